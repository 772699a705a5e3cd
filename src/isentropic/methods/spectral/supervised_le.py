"""S-LE: supervised Laplacian eigenmaps, near within classes and apart between them."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..._core.arguments import Parameter, Real
from ..._core.errors import IsentropicWarning, is_real, require, warn
from ..._core.runtime import require_memory, row_blocks
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...dissimilarities import ClassDistance, mean_squared_distance
from ...distances import distances_between, rows_per_block
from ...embedding.class_model import ClassModel, dissimilarity_of
from ...embedding.components import (
    EmbeddedRows,
    complete_embedding,
    component_eigenvectors,
    initial_coordinates,
)
from ...embedding.embedder import Embedder
from ...embedding.maps.nystrom import NystromMap
from ...embedding.training_data import NComponents, NJobs, NNeighbors, labelled_training_data
from ...linalg import top_eigenpairs
from ...linalg.eigen import padded
from .laplacian import DissimilarEdges, NearestEdges

_PEAK = 50.0  # times the median: a coordinate that large somewhere sits on a few rows
_LARGEST_PEAK = 1e12


class _Width(Parameter):
    def _accepted(self, name: str, value: Any) -> Any:
        is_auto = isinstance(value, str) and value == "auto"
        fits = is_auto or (is_real(value) and 0 < value < np.inf)
        require(fits, name, "'auto' or a positive number in squared units of X", value)
        return value


class SimilarRowsMap(NystromMap):
    """The out-of-sample map of S-LE: the mean of near rows, by their similarities."""

    edges: Annotated[Any, Sub(NearestEdges, DissimilarEdges)]


class SupervisedLE(Embedder):
    """Laplacian eigenmaps that attract near rows of a class and separate near rows of two classes.

    Two rows are near where their similarity ``S = exp(-d^2 / beta)`` is above the mean similarity of either.
    W_w is S of near rows of one class, each row near itself, and W_b is 1 for near rows of two classes, L_b
    its Laplacian, scaled so that both have the same total. The map has the top solutions of
    ``(gamma L_b + (1 - gamma) W_w) z = lambda D_w z`` but the constant one, of mean square 1 weighted by D_w.

    For small gamma these are smooth indicators of the classes: there is one less coordinate that means
    something than there are classes. Without near rows of two classes, or with a gamma of 0, they are points.

    A new row needs no label: it is the mean of its nearest fitted rows, weighed by S.

    With a ``dissimilarity`` d is one that counts classes: rows are near by it, and weigh by it. That of a new
    row is the expectation over the classes that it may have, by votes of its nearest rows.

    Cost: ``O(n^2 m)`` time, ``24 n^2`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Fitted rows whose mean a new row is. The fit itself has no such number.
    n_components : int
        Dimension of the map; coordinates beyond one less than the number of classes are told of.
    beta : "auto" or float
        Width of the similarities, in squared units of the data. ``"auto"`` is the mean squared distance.
    gamma : float
        Weight of what lies between classes, from 0 to below 1. Large ones lead to coordinates that sit on
        single rows, with a warning.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3, ClassDivergence, or None
        Of rows and classes, as in :class:`SupervisedIsomap`, in place of the Euclidean distance. Then beta is
        in its squared units.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Largest first, that of the constant, ``1 - gamma``, left out.
    eigengap_ : float
        How far the next eigenvalue is below the last of these, as a share of that.
    n_separating_ : int
        Coordinates that are constant on each class.
    peak_ : float
        The largest entry of a coordinate over the median one, of the coordinate where that is most; at most
        1e12. Above 50 a coordinate sits on a few rows.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Raducanu and Dornaika (2012). Hajderanj (2022).

    Examples
    --------
    >>> from isentropic import SupervisedLE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> eigenmaps = SupervisedLE().fit(iris.X[::2], iris.y[::2])
    >>> eigenmaps.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _learns_from_y = True
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    peak_: Annotated[float, Number(0)]
    _map: Annotated[SimilarRowsMap, Sub(SimilarRowsMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 10,
        n_components: NComponents = 2,
        *,
        beta: Annotated[Any, _Width()] = "auto",
        gamma: Annotated[float, Real("a number from 0 to below 1", below=1)] = 0.05,
        dissimilarity: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.beta = beta
        self.gamma = gamma
        self.dissimilarity = dissimilarity
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Near rows, similarities within classes, the Laplacian between them, the coordinates of both."""
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        rows, labels, measure = data.X[data.labelled], data.labels[data.labelled], None
        if self.dissimilarity is not None:
            measure = dissimilarity_of(self.dissimilarity, rows, labels, n_jobs=n_jobs)
        S, width = similarities(rows, labels, measure, self.beta, n_jobs)
        within, between = near_weights(S, labels)
        degrees = within.sum(axis=1)
        count = min(d, len(rows) - 1)
        if self.gamma == 0 or not between.any():
            values, vectors, still = _indicators(rows, within, degrees, count)
        else:
            (values, vectors), still = _top(within, between, degrees, float(self.gamma), count), 0
        Z = vectors[:, :count] * np.sqrt(degrees.sum() / degrees)[:, None]
        _warn_of_few_classes(len(self.classes_), d)
        peak, k = _peak_with_warning(Z), min(self.n_neighbors, len(rows))
        if measure is None:
            edges = NearestEdges(EmbeddedRows(data, data.labelled), k)
        else:
            votes = ClassModel.fit(data, len(self.classes_), "votes", self.n_neighbors, n_jobs)
            edges = DissimilarEdges(votes, measure, k)
        new_rows = SimilarRowsMap(edges, initial_coordinates(edges, Z, d), width, np.ones(d), None)
        new_rows = complete_embedding(new_rows, data.labelled, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, eigenvalues_=padded(values[:count], d),
                             eigengap_=_gap(values, count), n_separating_=still, peak_=peak)  # fmt: skip


def similarities(
    X: np.ndarray, labels: np.ndarray, measure: ClassDistance | None, beta: Any, n_jobs: int | None
) -> tuple[np.ndarray, float]:
    """S of all pairs, by a dissimilarity or (None) by distances, and the width of it."""
    n = len(X)
    require_memory(24 * n * n, f"Similarities of {n:,} rows", "Take StochasticLE, or a sample.")
    D = np.empty((n, n))
    for block in row_blocks(n, "similarities", size=rows_per_block(n)):
        D[block] = distances_between(X[block], X, "euclidean", n_jobs)
        if measure is not None:
            D[block] = measure.between(D[block], labels[block, None], labels)
    width = beta
    if isinstance(width, str):
        spread = mean_squared_distance
        width = spread(X, "euclidean") if measure is None else spread(D, "precomputed", n_jobs)
    D /= math.sqrt(width)
    return np.exp(-(D**2)), float(width)


def _warn_of_few_classes(count: int, n_components: int) -> None:
    if n_components > count - 1 > 0:
        warn(
            f"{count} classes have {count - 1} coordinates that separate them: the last "
            f"{n_components - count + 1} of {n_components} show what is left. Take fewer components.",
            IsentropicWarning,
        )


def near_weights(S: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``W_w`` and ``W_b``, dense: similarities of near rows of a class, and ones for near rows of two.

    The first in place of the similarities.
    """
    n = len(S)
    means = S.mean(axis=1)
    S[(means[:, None] >= S) & (means >= S)] = 0.0
    S[np.arange(n), np.arange(n)] = 1.0  # also where all rows are equal, and none is above the mean
    apart = classes[:, None] != classes
    between = (apart & (S > 0)).astype(float)
    S[apart] = 0.0
    return S, between


def _top(within, between, degrees, gamma: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest solutions after the constant one, which is projected out; one value more."""
    n, roots = len(degrees), np.sqrt(degrees)
    outside = between.sum(axis=1)
    scale = degrees.sum() / outside.sum()
    constant = roots / np.linalg.norm(roots)
    below = 1.0 + 2.0 * scale * float((outside / degrees).max())  # more than any eigenvalue is away from 0

    def times(x: np.ndarray) -> np.ndarray:
        along = constant @ x
        rest = (x - constant * along) / roots
        product = gamma * scale * (outside * rest - between @ rest) + (1.0 - gamma) * (within @ rest)
        product /= roots
        return product - constant * (constant @ product) - below * along * constant

    return top_eigenpairs(times, n, min(count + 1, n - 1))


def _indicators(X, within, degrees, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The solutions without weights between classes: the indicators of the components of W_w."""
    parts = connected_components(csr_array(within), directed=False)[1]
    roots = np.sqrt(degrees)
    operator = np.eye(len(X)) - within / roots[:, None] / roots
    changes, vectors = component_eigenvectors(operator, X, parts, count, degrees)
    return 1.0 - changes, vectors, min(int(parts.max()), count)


def _gap(values: np.ndarray, count: int) -> float:
    if len(values) == count:
        return 1.0
    last, following = values[count - 1 : count + 1]
    return float(min(max(1.0 - following / last, 0.0), 2.0)) if last > 0 else 0.0


def _peak_with_warning(Z: np.ndarray) -> float:
    """The largest entry over the median; warns of a coordinate that is concentrated on a few rows."""
    sizes = np.abs(Z)
    largest, median = sizes.max(axis=0, initial=0.0), np.median(sizes, axis=0)
    ratios = np.divide(largest, median, out=np.full(len(largest), _LARGEST_PEAK), where=median > 0)
    peak = float(np.minimum(np.where(largest > 0, ratios, 0.0), _LARGEST_PEAK).max(initial=0.0))
    if peak > _PEAK:
        warn(
            f"A coordinate is {peak:.3g} times as large on some row as on the median one: it shows few rows. "
            "Take a smaller gamma, or fewer components; that of a small class is a peak by nature.",
            IsentropicWarning,
        )
    return peak
