"""MVU: maximum variance unfolding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import coo_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu
from scipy.spatial.distance import squareform

from ..._core.arguments import Choice, Count, Real
from ..._core.errors import IsentropicWarning, is_whole, require, warn
from ..._core.runtime import require_memory
from ..._core.specs import Array, Maybe, Number, Whole
from ..._core.state import Sub
from ..._core.values import NeighborGraph
from ...distances import Distinct, distinct_rows, in_tiles
from ...embedding.embedder import Embedder
from ...embedding.initialization import initial_scaling
from ...embedding.landmarks import choose_landmarks
from ...embedding.maps.barycentric import BarycentricMap
from ...embedding.training_data import NComponents, NJobs, training_data
from ...geodesics import all_pairs, from_rows
from ...kernels._jit import threads
from ...kernels.distances.euclidean import tiled_products
from ...kernels.pairs.pair_stress import pair_list_pulls, pair_rows
from ...linalg import fixed_signs
from ...linalg.eigen import count_still_coordinates, eigengap
from ...objectives import worth_threads
from ...optim import ConstrainedMinimum, Objective, augmented_lagrangian
from .neighborhoods import (
    Connected,
    Neighborhoods,
    Regularization,
    barycentric_map,
    find_neighborhoods,
    reconstruction_weights,
    require_neighbors,
)

_RIDGE = 1e-6  # of the mean eigenvalue


@dataclass(frozen=True)
class Unfolding:
    """``max sum |z_i|^2 / n`` where ``|z_i - z_j|^2`` is, or is at most, the squared length of each pair.

    The semidefinite program of MVU with ``K = Z Z'``, Z of few columns (Burer and Monteiro), or with
    ``Z = basis Y`` for coordinates Y of landmarks. ``O(e r)`` time a value for e pairs, ``O(n l r)`` more for
    a basis.

    >>> import numpy as np
    >>> line = Unfolding(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 4.0]))
    >>> line.excess(np.array([[0.0], [1.0], [2.0]])).tolist()
    [0.0, -3.0]
    """

    n: int
    pairs: np.ndarray  # (e, 2), no pair twice
    squared: np.ndarray  # (e,)
    at_most: bool = False
    basis: np.ndarray | None = None  # (n, l), each column centred; of either precision
    n_jobs: int | None = 1

    @cached_property
    def _partners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Partners of each row, as CSR, and the numbers of their pairs."""
        first, second = np.ascontiguousarray(self.pairs.T, np.int64)
        indptr, count = np.zeros(self.n + 1, np.int64), 2 * len(self.pairs)
        indices, pair = np.empty(count, np.int32), np.empty(count, np.int64)
        pair_rows(first, second, indptr, indices, pair)
        return indptr, indices, pair

    @cached_property
    def _tiles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The basis and its transpose, in tiles, and the products of its columns."""
        assert self.basis is not None
        exact = self.basis.astype(np.float64)
        return in_tiles(self.basis), in_tiles(np.ascontiguousarray(self.basis.T)), exact.T @ exact

    def rows(self, Y: np.ndarray) -> np.ndarray:
        """Coordinates of all rows, centred."""
        return Y - Y.mean(axis=0) if self.basis is None else self._times(self._tiles[0], Y, self.n)

    def _times(self, tiles: np.ndarray, Y: np.ndarray, n: int) -> np.ndarray:
        """Products of a basis in tiles and the columns of ``Y``, summed up in double precision."""
        out = np.empty((Y.shape[1], n))
        with threads(worth_threads(tiles.size, self.n_jobs)):
            tiled_products(np.ascontiguousarray(Y.T), tiles, out)
        return np.ascontiguousarray(out.T)

    def excess(self, Y: np.ndarray) -> np.ndarray:
        """Excess of the squared length of each pair over its own."""
        Z = self.rows(Y)
        return ((Z[self.pairs[:, 0]] - Z[self.pairs[:, 1]]) ** 2).sum(axis=1) - self.squared

    def variance(self, Y: np.ndarray) -> float:
        """The variance, which is maximised."""
        return float((self.rows(Y) ** 2).sum()) / self.n

    def moved(self, multipliers: np.ndarray, penalty: float, excess: np.ndarray) -> np.ndarray:
        """The multipliers after a step of the method of multipliers."""
        found = multipliers + penalty * excess
        return np.maximum(found, 0.0) if self.at_most else found

    def lagrangian(self, multipliers: np.ndarray, penalty: float) -> Objective:
        """Augmented: ``-variance + (|moved multipliers|^2 - |multipliers|^2) / (2 n penalty)``."""
        indptr, indices, pair = self._partners
        known, given, squared = float(multipliers @ multipliers), multipliers[pair], self.squared[pair]
        n_jobs = worth_threads(len(pair), self.n_jobs)

        def value(Y: np.ndarray) -> tuple[float, np.ndarray]:
            Z = self.rows(Y)
            pulls = np.empty_like(Z)
            with threads(n_jobs):
                forces = pair_list_pulls(
                    indptr, indices, given, squared, float(penalty), self.at_most, Z, pulls
                )
            spread = Z
            if self.basis is not None:
                spread, pulls = self._tiles[2] @ Y, self._times(self._tiles[1], pulls, len(Y))
            cost = (0.5 * float(forces.sum()) - known) / (2 * penalty) - float((Y * spread).sum())
            return cost / self.n, (2 / self.n) * (pulls - spread)

        return value


def evened(problem: Unfolding, start: np.ndarray) -> tuple[Unfolding, np.ndarray]:
    """The problem in coordinates of landmarks in which a step changes all lengths alike, and its start there.

    With the basis ``B`` centred and ``L L'`` the mean of ``(b_i - b_j)(b_i - b_j)'`` over the pairs, scaled
    and with a ridge, since moving all landmarks alike changes nothing: ``B L'^-1`` and ``L' Y``.
    """
    assert problem.basis is not None
    centred = problem.basis - problem.basis.mean(axis=0)
    graph = _pattern(problem.pairs, problem.n)
    spread = graph.sum(axis=1)[:, None] * centred - graph @ centred
    G = centred.T @ spread
    G /= np.trace(G) / len(G)
    G[np.diag_indices_from(G)] += _RIDGE
    factor = cholesky(G, lower=True)
    basis = np.ascontiguousarray(solve_triangular(factor, centred.T, lower=True).T, np.float32)
    return replace(
        problem, basis=basis
    ), factor.T @ start  # single precision: half as much to read, twice a step


# ---- What maximum variance unfolding holds fixed, where it starts, and all rows as sums of landmarks ----


def patch_pairs(lists: Neighborhoods) -> np.ndarray:
    """Pairs of neighbours, and of rows that are in one list, ``eta + eta' eta`` (e, 2): none twice, in order.

    A row and its neighbours keep all distances between them, and so the angles.
    """
    found = []
    for rows, near in lists.by_size(lists.near.shape[1]):
        patch = np.column_stack([rows, near])
        heads, tails = np.triu_indices(patch.shape[1], 1)
        found.append(np.column_stack([patch[:, heads].ravel(), patch[:, tails].ravel()]))
    pairs: np.ndarray = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return pairs


def pair_graph(n: int, pairs: np.ndarray, lengths: np.ndarray) -> NeighborGraph:
    """The connected graph of the pairs, weighted by their lengths."""
    row, column = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((column, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    weights = np.concatenate([lengths, lengths])[order]
    return NeighborGraph(indptr, column[order].astype(np.int32), weights, "knn", np.zeros(n, np.int32))


def scaled_paths(
    graph: NeighborGraph, rank: int, landmarks: np.ndarray | None, n_jobs: int | None
) -> np.ndarray:
    """Initialize the unfolding by ISOMAP, of landmarks if there are any."""
    if landmarks is None:
        count, paths = graph.n_rows, all_pairs(graph, n_jobs=n_jobs)
    else:
        count = len(landmarks)
        paths = squareform(from_rows(graph, landmarks, n_jobs=n_jobs)[:, landmarks], checks=False)
    return initial_scaling(paths, count, rank, n_jobs).embedding


def landmark_basis(W: csr_array, landmarks: np.ndarray) -> np.ndarray:
    """All rows as sums of landmarks (n, l): those that minimise ``|(I - W) Z|^2`` for the landmarks' places.

    With ``M = (I - W)' (I - W)`` in parts of landmarks and others, ``Q = [I; -M_oo^-1 M_ol]``, sparse.
    """
    n, count = W.shape[0], len(landmarks)
    require_memory(16 * n * count, f"{n:,} rows as sums of {count:,} landmarks", "Take fewer landmarks.")
    apart = csr_array(eye_array(n) - W)
    M = csc_array(apart.T @ apart)
    others = np.setdiff1d(np.arange(n), landmarks)
    basis = np.zeros((n, count))
    basis[landmarks, np.arange(count)] = 1.0
    inner = csc_array(M[others][:, others])
    factors = splu(inner, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    basis[others] = -factors.solve(M[others][:, landmarks].toarray())
    return basis


# Columns of Z beyond the coordinates, and beyond the features: with enough of them a local optimum is also
# global, and some Z keeps all distances; a table of few features needs fewer.
_BEYOND_MAP, _BEYOND_TABLE = 18, 5
_ALL_UP_TO = 5_000  # rows; above that, landmarks
_LANDMARKS = 200
_NOTHING = 1e-14  # of the variance: a coordinate that rounding alone fills


class MVU(Embedder):
    """Maximum variance unfolding: pull rows apart while the distances within neighbourhoods are preserved.

    Maximises ``sum_i |z_i|^2`` with ``|z_i - z_j|^2 = |x_i - x_j|^2`` for rows that are neighbours or have a
    common neighbour: a semidefinite program in ``K = Z Z'``. Z has a few columns more than the map (Burer and
    Monteiro) and is found by an augmented Lagrangian with L-BFGS inside, from ISOMAP's map; the coordinates
    are its principal ones. Of large tables each row is a sum of landmarks, with the weights of locally linear
    embedding, and distances may shrink but not grow. Equal rows count once. A new row is the sum of its k
    nearest fitted rows with weights found as in LLE, and a fitted one has its own coordinates.

    Cost: some thousand steps of ``O(n k^2)`` time each, and ``4 n^2`` bytes for the start; with l landmarks
    ``O(n (k^2 + l))`` a step, a sparse factorisation, and ``16 l n`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row. The fewer, the freer the map; an edge across a gap folds it.
    n_components : int
        Dimension of the map.
    n_landmarks : int, None or "auto"
        Rows that all others are sums of; None is every row, ``"auto"`` every row up to 5,000 and 200 beyond.
    constraints : {"equal", "at-most"}
        Whether distances between neighbours are kept, or may also shrink. With landmarks they may.
    regularization : float
        Of the weights of a new row, and of landmarks: what is added to the diagonal of each local system, as
        a share of its trace.
    tol : float
        Largest violation of a squared distance, as a share of their mean, at which the unfolding ends.
    max_iter : int
        Steps of L-BFGS in all. Without ``tol`` met by then, a warning says what is violated.
    on_disconnected : {"bridge", "largest", "raise"}
        What to do about a disconnected graph, which nothing would hold together: join them by their shortest
        edges; fit the largest and place the others as new rows (both with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the unit of the data.
    eigenvalues_ : array of shape (n_components,)
        Of K, largest first.
    variance_share_ : float
        Share of the trace of K that the map shows; the rest is in coordinates beyond.
    eigengap_ : float
        ``1 - b / a``, a the last eigenvalue of the map and b the next: near 1, the dimension is right.
    violation_ : float
        Largest difference of a squared distance that is kept, as a share of their mean.
    n_iter_ : int
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects.
    landmarks_ : array or None
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Weinberger and Saul (2006). Burer and Monteiro (2003).

    Examples
    --------
    >>> from isentropic import MVU, datasets
    >>> roll = datasets.load("builtin:swiss-roll").X[:200]
    >>> mvu = MVU(n_neighbors=5, max_iter=500, tol=0.1).fit(roll)
    >>> mvu.embedding_.shape
    (200, 2)
    >>> bool((mvu.transform(roll[:5]) == mvu.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    variance_share_: Annotated[float, Number(0)]
    violation_: Annotated[float, Number(0)]
    n_iter_: Annotated[int, Whole(0)]
    landmarks_: Annotated[Any, Maybe(Array("l", dtype=np.int64, below="n"))]
    _map: Annotated[BarycentricMap, Sub(BarycentricMap)]

    def __init__(
        self,
        n_neighbors: int = 6,
        n_components: NComponents = 2,
        *,
        n_landmarks: Any = "auto",
        constraints: Annotated[str, Choice("equal", "at-most")] = "equal",
        regularization: Regularization = 1e-3,
        tol: Annotated[float, Real("a positive number", above=0)] = 5e-3,
        max_iter: Annotated[int, Count()] = 10_000,
        on_disconnected: Connected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.constraints = constraints
        self.regularization = regularization
        self.tol = tol
        self.max_iter = max_iter
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Patches, the squared distances in them, their unfolding from ISOMAP's map, its principal axes.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        X, k, share = data.X, require_neighbors(self.n_neighbors, d), float(self.regularization)
        _require_landmarks(self.n_landmarks, d)
        distinct = distinct_rows(X)
        own = np.arange(len(X)) if distinct is None else distinct.rows
        if len(own) == 1:
            new_rows = barycentric_map(data, _ONE_ROW, share, np.zeros((1, 0)), d, n_jobs)
            return self._set_fit(new_rows.Z, new_rows, eigenvalues_=np.zeros(d), **_NOTHING_UNFOLDED)
        lists = find_neighborhoods(X[own], k, self.on_disconnected, n_jobs)
        rows = own[lists.fitted]
        pairs = patch_pairs(lists)
        unit, squared = _squared_lengths(X[rows], pairs)
        landmarks, basis = landmark_sums(X[own], lists, self.n_landmarks, share, n_jobs)
        graph = pair_graph(len(rows), pairs, np.sqrt(squared))
        rank = min(d + _BEYOND_MAP, max(d, X.shape[1]) + _BEYOND_TABLE, len(rows) - 1)
        start = scaled_paths(graph, rank, landmarks, n_jobs)
        at_most = self.constraints == "at-most" or basis is not None
        problem = Unfolding(len(rows), pairs, squared, at_most, basis, n_jobs)
        if basis is not None:
            problem, start = evened(problem, start)
        found = augmented_lagrangian(problem, start, tol=self.tol, max_iter=self.max_iter)
        _warn_of_violation(found, self.tol)
        values, Z = _principal(problem.rows(found.point), d)
        still = count_still_coordinates(Z[:, Z.any(axis=0)], _pattern(pairs, len(rows)))
        new_rows = barycentric_map(data, replace(lists, fitted=rows), share, unit * Z, d, n_jobs)
        if distinct is not None:
            new_rows = _at_first_of_each(new_rows, rows, unit * Z, distinct)
        return self._set_fit(
            new_rows.Z, new_rows, eigenvalues_=unit**2 * values[:d], n_separating_=still,
            eigengap_=eigengap(values[d - 1 : d + 1][::-1], 1), violation_=found.violation,
            variance_share_=float(values[:d].sum() / values.sum()), n_iter_=found.n_iter,
            landmarks_=None if landmarks is None else rows[landmarks],
        )  # fmt: skip


_ONE_ROW = Neighborhoods(np.zeros(1, np.int64), np.zeros((1, 1), np.int64), np.empty((0, 2), np.int64))
_NOTHING_UNFOLDED = {"variance_share_": 1.0, "eigengap_": 0.0, "violation_": 0.0, "n_iter_": 0,
                     "n_separating_": 0, "landmarks_": None}  # fmt: skip


def _require_landmarks(n_landmarks: Any, d: int) -> None:
    must_be = f"an integer of at least n_components + 2 = {d + 2}, None or 'auto'"
    named = n_landmarks is None or (isinstance(n_landmarks, str) and n_landmarks == "auto")
    fits = named or (is_whole(n_landmarks) and n_landmarks >= d + 2)
    require(fits, "n_landmarks", must_be, n_landmarks)


def landmark_sums(
    X: np.ndarray, lists: Neighborhoods, n_landmarks: Any, regularization: float, n_jobs: int | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Landmarks among the fitted rows, and all of these as sums of them; None where every row is one."""
    n, count = len(lists.fitted), n_landmarks
    if isinstance(count, str):
        count = None if n <= _ALL_UP_TO else _LANDMARKS
    if count is None or count >= n:
        return None, None
    landmarks = choose_landmarks(X[lists.fitted], count, n_jobs=n_jobs)
    return landmarks, landmark_basis(reconstruction_weights(X, lists, regularization), landmarks)


def _warn_of_violation(found: ConstrainedMinimum, tol: float) -> None:
    if not found.converged:
        warn(
            f"A squared distance between neighbours still differs by {found.violation:.2g} of the mean "
            f"after {found.n_iter} steps (tol={tol:g}): the map is nearly unfolded. Take a larger "
            "max_iter or tol, or fewer neighbours.",
            IsentropicWarning,
        )


def _at_first_of_each(
    new_rows: BarycentricMap, rows: np.ndarray, Z: np.ndarray, distinct: Distinct
) -> BarycentricMap:
    """The map in which equal rows are where the first of them is: those that were unfolded at their ``Z``."""
    all_rows = new_rows.Z
    all_rows[rows] = Z
    first = np.empty(len(distinct.members), np.int64)
    first[distinct.members] = np.repeat(distinct.rows, np.diff(distinct.indptr))
    return replace(new_rows, Z=all_rows[first])


def _squared_lengths(X: np.ndarray, pairs: np.ndarray) -> tuple[float, np.ndarray]:
    """The root mean square length of the pairs, and the squares of all in that unit."""
    gaps = X[pairs[:, 0]] - X[pairs[:, 1]]
    unit = float(np.ldexp(1.0, np.frexp(np.abs(gaps).max())[1]))  # a power of two: squares must not overflow
    squared = ((gaps / unit) ** 2).sum(axis=1)
    mean = float(squared.mean())
    return unit * float(np.sqrt(mean)), squared / mean


def _principal(Z: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of ``Z Z'``, at least d of them, and the first d principal coordinates, signs fixed."""
    U, deviations, _ = np.linalg.svd(Z, full_matrices=False)
    values = np.concatenate([deviations**2, np.zeros(max(d - len(deviations), 0))])
    values[values <= _NOTHING * values[0]] = 0.0
    count = min(d, int(np.count_nonzero(values)))
    if count < d:
        lost = f"the last {d - count} of {d} coordinates are zero"
        warn(f"What is unfolded has a rank of {count}: {lost}.", IsentropicWarning)
    coordinates = np.zeros((len(Z), d))
    coordinates[:, :count] = fixed_signs(U[:, :count]) * deviations[:count]
    return values, coordinates


def _pattern(pairs: np.ndarray, n: int) -> csr_array:
    """Ones at the pairs, both ways."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return csr_array(coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n)))
