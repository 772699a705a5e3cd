"""Random projection."""

from __future__ import annotations

import numpy as np

from ..._core.runtime import generator
from ..._core.state import Array, State
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import LinearEmbedder, require_features
from ...linalg.centred import CentredRows


class RandomProjection(LinearEmbedder):
    """Directions drawn at random, without a look at the data: what any other method must beat.

    The entries of C are normal with variance 1/d, so that squared distances are kept on average: Johnson and
    Lindenstrauss. With d = ``4 log(n) / (e^2/2 - e^3/3)`` coordinates all are kept up to the factor 1 ± e.

    Cost: ``O(n m d)`` time, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    random_state : int, RandomState or None
        Seed of the directions; None is a fixed one.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the variance along each direction, what earlier ones explain left out.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Johnson and Lindenstrauss (1984).

    Examples
    --------
    >>> from isentropic import RandomProjection, datasets
    >>> RandomProjection(random_state=1).fit_transform(datasets.load("builtin:wine").X).shape
    (178, 2)
    """

    _state = State(explained_variance_ratio_=Array("d"))

    def __init__(self, n_components=2, *, random_state=None, n_jobs=None):
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draw the directions, place every row. ``y`` is not used."""
        X = checked_rows(self, X)
        n_components = checked_components(self.n_components)
        require_features(n_components, X)
        centred = CentredRows.of(X)
        drawn = generator(self.random_state).normal(size=(n_components, X.shape[1]))
        self.explained_variance_ratio_ = centred.explained(drawn)
        self._project(X, centred.mean, drawn / np.sqrt(n_components))
        return self
