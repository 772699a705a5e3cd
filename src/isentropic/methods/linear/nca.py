"""NCA: neighbourhood components analysis, from scikit-learn, with the interface of every method here."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.special import softmax
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from ..._core.arguments import Count
from ..._core.errors import require
from ..._core.runtime import require_memory, row_blocks
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...distances import rows_per_block
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, fully_labelled_training_data
from ...linalg.centering import CentredRows


class NCA(SupportsInverse, Embedder):
    """Neighbourhood components analysis: learn a linear map in which neighbours have the same class.

    ``max sum_i sum_j p_ij [y_i = y_j]``, p_ij proportional to ``exp(-|C x_i - C x_j|^2)``: the expected
    number of rows that a neighbour drawn at random classifies rightly. Distances in the map are the learnt
    Mahalanobis metric ``C'C``, and have no unit. L-BFGS from the principal axes, of features with the mean
    variance 1.

    Every row needs a class. -1 is one, with a warning beside two or more others, as it may mark rows without.

    Cost: ``O(n^2 (m + d))`` time a round, ``8 n^2`` bytes and more, estimated before they are taken.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    max_iter : int
        Rounds at most: fewer are a way to learn less.
    n_jobs : int, optional
        Threads of ``transform``. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    classes_ : array
        What the classes are called.
    expected_accuracy_ : float
        Of the fitted rows, by a neighbour drawn at random: what is made large.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Goldberger, Roweis, Hinton and Salakhutdinov (2005).

    Examples
    --------
    >>> from isentropic import NCA, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> NCA().fit(iris.X, iris.y).expected_accuracy_ > 0.95
    True
    """

    _learns_from_y = True
    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    expected_accuracy_: Annotated[float, Number(0, most=1)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self, n_components: NComponents = 2, *, max_iter: Annotated[int, Count()] = 50, n_jobs: NJobs = None
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Principal axes; the map that gradient steps lead to from there; place every row."""
        data = fully_labelled_training_data(self, X, y, keep_rows=False)
        n, d, n_jobs, count = data.n, self.n_components, self.n_jobs, len(self.classes_)
        require_features(d, data.table)
        require(count > 1, "y", "at least two classes", count, "PCA needs none.")
        require_memory(32 * n * n, f"All pairs of {n:,} rows", "Take LDA, or a sample.")
        centred = CentredRows.of(data.table)
        axes = centred.axes()[1]
        start = padded_directions(axes, d, f"X has a rank of {len(axes)}")
        unit = np.sqrt((centred.rows**2).mean()) or 1.0  # in which the variance of a feature is 1 on average
        rounds = row_blocks(self.max_iter, "descent steps", size=1)
        next(rounds)
        nca = NeighborhoodComponentsAnalysis(
            d, init=start, max_iter=self.max_iter, callback=lambda *_: next(rounds, None)
        )
        nca.fit(centred.rows / unit, data.labels)
        new_rows = LinearMap.along(data, centred.mean, nca.components_ / unit / centred.unit)
        Z = new_rows.transform(data.table, n_jobs)
        return self._set_fit(Z, new_rows, components_=new_rows.components, mean_=new_rows.mean,
                             expected_accuracy_=expected_accuracy(Z, data.labels), n_iter_=int(nca.n_iter_)
                             )  # fmt: skip


def expected_accuracy(Z: np.ndarray, classes: np.ndarray) -> float:
    """Mean chance that a neighbour drawn with ``p_ij ~ exp(-|z_i - z_j|^2)`` has the class of its row."""
    total = 0.0
    for block in row_blocks(len(Z), "expected accuracy", size=rows_per_block(len(Z))):
        logits = -((Z[block, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
        rows = np.arange(len(Z))[block]
        logits[np.arange(len(rows)), rows] = -np.inf
        chances = softmax(logits, axis=1)
        total += float(chances[classes[block, None] == classes[None, :]].sum())
    return total / len(Z)
