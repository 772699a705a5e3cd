"""Random projection."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.runtime import generator
from ..._core.specs import Array
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg.centering import CentredRows


class RandomProjection(SupportsInverse, Embedder):
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

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(self, n_components: NComponents = 2, *, random_state: Any = None, n_jobs: NJobs = None):
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draw the directions, place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        require_features(d, data.table)
        centred = CentredRows.of(data.table)
        drawn = generator(self.random_state).normal(size=(d, data.table.shape[1]))
        new_rows = LinearMap.along(data, centred.mean, drawn / np.sqrt(d))
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=centred.explained(drawn))  # fmt: skip
