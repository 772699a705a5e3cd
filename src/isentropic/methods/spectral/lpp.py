"""Locality preserving projections, linear and kernel: Laplacian eigenmaps as functions of the features."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from scipy.linalg import eigh, svd

from ..._core.arguments import Choice, Real
from ..._core.errors import (
    IsentropicWarning,
    is_whole,
    require,
    require_count,
    require_number,
    require_one_of,
    warn,
)
from ..._core.runtime import require_memory
from ..._core.specs import Array, StateError, Whole
from ..._core.state import Sub
from ..._core.values import Can, NeighborRule, Pnn
from ...affinities import InnerProduct, heat, neighbor_graph
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap
from ...embedding.maps.nystrom import KernelMap
from ...embedding.training_data import NComponents, NJobs, TrainingData, training_data
from ...kernels._jit import threads
from ...kernels.rows.projections import project_centred
from ...linalg import fixed_signs, normalized_adjacency
from .laplacian import Heat, graph_rule, locality_directions


class LPP(SupportsInverse, Embedder):
    """Linear projection that keeps neighbours close: Laplacian eigenmaps restricted to linear functions.

    ``X' L X a = lambda X' D X a`` for the d smallest lambda, X centred at the mean weighted by the degrees,
    L = D - W the Laplacian of a neighbour graph whose edges weigh ``exp(-d^2 / t)``. Solved in the basis of
    the singular vectors of ``D^1/2 X``, so that collinear columns, or more columns than rows, are no case of
    their own. Every coordinate has the mean square 1, weighted by the degrees.

    With as many features as rows, less one, the directions can follow any function of the fitted rows: the
    map is that of Laplacian eigenmaps and says nothing of new rows. A warning tells; ``n_pca`` prevents it.

    Cost: the search of neighbours and ``O(n m min(n, m) + n k m)`` time, ``O(n (m + k))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map, at most the number of features (where nothing is reduced: the rows are only
        turned and stretched).
    neighbors : Knn, Radius, Percentile, Can, Pnn, "can" or "pnn", optional
        The rule of the graph, instead of ``n_neighbors``. Adaptive and probabilistic neighbours have weights
        of their own; by name they are of ``n_neighbors``.
    t : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge,
        and infinity weighs all edges alike. Weights of ``Pnn`` fall with the squared distance, and, if a t is
        given, with the heat instead; those of ``Can`` do not depend on it.
    n_pca : int or float, optional
        Project on so many principal components first, or on as many as have this share of the variance, below
        1; neighbours are those of the projected rows.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive. Zero beyond the rank of X, with a warning.
    mean_ : array of shape (m,)
        Weighted by the degrees of the rows.
    eigenvalues_ : array of shape (n_components,)
        Smallest first: how far neighbours are apart along each direction.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: their eigenvalues are
        more than 100 times below the next, or 0. A warning reports them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    He and Niyogi (2003); Nie, Wang and Huang (2014) of adaptive neighbours, Cervati Neto (2024) of
    probabilistic ones.

    Examples
    --------
    >>> from isentropic import LPP, datasets
    >>> lpp = LPP().fit(datasets.load("builtin:iris").X)
    >>> lpp.embedding_.shape
    (150, 2)
    >>> bool(lpp.eigenvalues_[0] < lpp.eigenvalues_[1] < 1)
    True
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        neighbors: Any = None,
        t: Heat = "auto",
        n_pca: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.t = t
        self.n_pca = n_pca
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Principal components if asked for, graph, weights, directions of least change along its edges.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, rule = data.table, named_rule(self.n_neighbors, self.neighbors, self.t)
        middle = X.mean(axis=0)
        axes = None if self.n_pca is None else principal_axes(X - middle, self.n_pca)
        rows = X if axes is None else (X - middle) @ axes.T
        most, of = rows.shape[1], "features" if axes is None else "principal components"
        require(d <= most, "n_components", f"at most the number of {of} {most}", d)
        adjacency, degrees = normalized_adjacency(heat(neighbor_graph(rows, rule, n_jobs=n_jobs), self.t))
        found = locality_directions(rows, adjacency, degrees, d)
        _warn_of_rank(found.rank, data.n, d)
        centre, components = found.centre, found.components
        if axes is not None:
            centre, components = middle + centre @ axes, components @ axes
        new_rows = LinearMap.along(data, centre, components)
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean, eigenvalues_=found.eigenvalues,
                             n_separating_=found.n_separating)  # fmt: skip


def named_rule(n_neighbors: Any, neighbors: Any, t: Any) -> NeighborRule:
    """``"can"`` and ``"pnn"`` are of ``n_neighbors``; with a given t those weights fall with the heat."""
    if isinstance(neighbors, str):
        hint = "Or give Knn, Radius, Percentile, Can or Pnn."
        require_one_of("neighbors", neighbors, ("can", "pnn"), hint)
        k = require_count("n_neighbors", n_neighbors)
        rule: NeighborRule = Can(k) if neighbors == "can" else Pnn(k)
    else:
        rule = graph_rule(n_neighbors, neighbors)
    if isinstance(rule, Pnn) and rule.t is None and not isinstance(t, str):
        rule = replace(rule, t=float(t))
    return rule


def principal_axes(X: np.ndarray, n_pca: Any) -> np.ndarray:
    """The leading directions (p, m) of centred rows: so many, or those of a share of the variance."""
    if is_whole(n_pca):
        count = require_count("n_pca", n_pca, most=min(X.shape))
        found: np.ndarray = svd(X, full_matrices=False)[2][:count]
        return found
    must_be = "a number of components, a share of the variance in (0, 1), or None"
    share = require_number("n_pca", n_pca, must_be, above=0, below=1)
    _, spreads, axes = svd(X, full_matrices=False)
    variances = np.cumsum((spreads / (spreads[0] or 1.0)) ** 2)
    found = axes[: int(np.searchsorted(variances, share * variances[-1])) + 1]
    return found


def _warn_of_rank(rank: int, n: int, n_components: int) -> None:
    """Warn of a rank of X that leaves coordinates zero, or makes the map meaningless."""
    if rank < n_components:
        lost = f"the last {n_components - rank} of {n_components} coordinates are zero"
        warn(f"X has a rank of {rank}: {lost}.", IsentropicWarning)
    if rank >= max(n - 1, 2):
        what = "the directions follow any function of these rows, and say nothing of new ones"
        warn(
            f"X has {n} rows and a rank of {rank}: {what}. Take more rows, or n_pca below {rank}.",
            IsentropicWarning,
        )


_KERNELS = ("rbf", "linear", "poly")
_ZERO = 1e-12  # of the largest eigenvalue of the kernel: rounding
_MATRICES = 5  # of all pairs of rows that are held at once


class RowKernelMap(KernelMap):
    """The out-of-sample map of kernel LPP, whose kernels are of rows, never given."""

    def _require_sound(self) -> None:
        super()._require_sound()
        if self.product.kind not in _KERNELS:
            raise StateError("product.kind", f"must be one of {', '.join(_KERNELS)}")


class KernelLPP(Embedder):
    """LPP in the feature space of a kernel.

    ``F' L F c = lambda F' D F c`` for the d smallest lambda, L = D - W the Laplacian of a neighbour graph, F
    the coordinates of the rows in that space (``F F' = H K H'``, H = I - 1 p', p the degrees over their sum),
    as many of the leading ones as have a share of the trace. Every coordinate has the mean square 1, weighted
    by the degrees. A new row is placed by its centred kernels to the fitted ones.

    What is left out is the method: with all coordinates of a kernel of full rank, any kernel, the map of the
    fitted rows is that of Laplacian eigenmaps, and the kernel only says where new rows go. With all of the
    linear kernel it is LPP.

    Cost: ``O(n^3)`` time, ``40 n^2`` bytes, estimated before they are taken.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map.
    neighbors : Knn, Radius, Percentile, Can or Pnn, optional
        The rule of the graph, instead of ``n_neighbors``. ``Can`` and ``Pnn`` have weights of their own.
    t : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge,
        and infinity weighs all edges alike.
    kernel : {"rbf", "linear", "poly"}
        ``exp(-gamma |x - y|^2)``, ``x'y``, ``(gamma x'y + coef0)^degree``.
    gamma : "auto" or float
        ``"auto"`` is 1 / (2 mean squared distance of two rows) for ``"rbf"``, and 1 for ``"poly"``.
    degree : int
        Of ``"poly"``.
    coef0 : float
        Of ``"poly"``.
    variance_share : float
        Share of the trace of the centred kernel whose coordinates are kept; 1 keeps all but rounding.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first.
    rank_ : int
        Coordinates of the kernel that are kept.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: their eigenvalues are
        more than 100 times below the next, or 0. A warning reports them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    He and Niyogi (2003).

    Examples
    --------
    >>> from isentropic import KernelLPP, datasets
    >>> lpp = KernelLPP().fit(datasets.load("builtin:iris").X)
    >>> lpp.embedding_.shape, lpp.rank_
    ((150, 2), 11)
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    rank_: Annotated[int, Whole(0)]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[RowKernelMap, Sub(RowKernelMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        neighbors: Any = None,
        t: Heat = "auto",
        kernel: Annotated[str, Choice(*_KERNELS)] = "rbf",
        gamma: Any = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        variance_share: Annotated[float, Real("a share above 0 and at most 1", above=0, most=1.0)] = 0.99,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.t = t
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.variance_share = variance_share
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph and weights, kernels centred by them, directions of least change along its edges.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, n, rule = data.table, data.n, graph_rule(self.n_neighbors, self.neighbors)
        product = InnerProduct.of(X, self.kernel, self.gamma, self.degree, self.coef0)
        require_memory(_MATRICES * 8 * n**2, f"All kernels of {n:,} rows", "Take LPP, or a sample.")
        adjacency, degrees = normalized_adjacency(heat(neighbor_graph(X, rule, n_jobs=n_jobs), self.t))
        K, p = product.between(X, X, n_jobs), degrees / degrees.sum()
        means = K @ p
        values, axes = _leading(_centred(K, means, p), float(self.variance_share))
        found = locality_directions(axes * np.sqrt(values), adjacency, degrees, d)
        _warn_of_kernel_rank(found.rank, n, d)
        alpha = (axes / np.sqrt(values)) @ found.components.T
        projection = alpha - np.outer(p, alpha.sum(axis=0))
        with threads(n_jobs):
            Z = project_centred(K, means, projection)
            projection *= np.where((fixed_signs(Z) == Z).all(axis=0), 1.0, -1.0)
            Z = project_centred(K, means, projection)
        no_rows = TrainingData(n, None, data.metric)
        new_rows = RowKernelMap(no_rows, X.shape[1], product, X.copy(), means, projection)
        return self._set_fit(Z, new_rows, eigenvalues_=found.eigenvalues, rank_=found.rank,
                             n_separating_=found.n_separating)  # fmt: skip


def _warn_of_kernel_rank(rank: int, n: int, d: int) -> None:
    """Warn of a rank of the kernel that leaves coordinates zero, or makes the map meaningless."""
    if rank < d:
        lost = f"the last {d - rank} of {d} coordinates are zero"
        warn(f"What is kept of the kernel has a rank of {rank}: {lost}.", IsentropicWarning)
    if rank >= max(n - 1, 2):
        what = "the map is that of Laplacian eigenmaps"
        hint = "Take less of it (variance_share), or a wider kernel (a smaller gamma)."
        warn(f"The kernel of {n} rows has a rank of {rank}: {what}. {hint}", IsentropicWarning)


def _centred(K: np.ndarray, means: np.ndarray, p: np.ndarray) -> np.ndarray:
    """``H K H'``, H = I - 1 p'."""
    return K - means - means[:, None] + p @ means


def _leading(K: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The leading eigenpairs that have a share of the trace, all of them positive; one at least."""
    values, vectors = eigh((K + K.T) / 2, overwrite_a=True)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = int(np.count_nonzero(values > _ZERO * max(values[0], 0.0))) if values[0] > 0 else 0
    if positive == 0:
        return np.ones(1), np.zeros((len(K), 1))
    sums = np.cumsum(values[:positive])
    count = min(int(np.searchsorted(sums, share * sums[-1])) + 1, positive)
    return values[:count], vectors[:, :count]
