"""Initial embeddings: random, PCA, spectral, and those of an earlier fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from .._core.arguments import unmasked
from .._core.errors import NegativeEigenvalueWarning, TableWarning, require, warn
from .._core.state import is_fitted
from ..distances import as_doubles
from ..linalg import Scaling, classical_scaling, leading_eigenvectors, normalized_adjacency, top_eigenpairs
from ..neighbors import component_labels, nearest_among
from ..objectives import AllPairs, SampledPairs
from ..tables.class_labels import matched_names, row_names
from .input_rows import metric_of_rows
from .landmarks import map_by_landmarks
from .row_distances import Distances

# ---- Where the search for a map starts: principal components, classical scaling, or noise --------


SPREAD = 1e-4  # of a start at random, as published for descent with momentum
_WIDE_SPREAD = 0.1  # for L-BFGS, whose first steps in so small a cloud would be too short to matter
_ROUNDING = 1e-9  # of the unit
_PART, _FEW = 65_536, 1024  # rows that are centred at a time, and columns whose products are held
_WITHOUT_EXTENT = (
    "The initialization has no extent: the rows it is computed from are all equal. A random one takes its "
    "place, seeded by random_state. Look for duplicate rows, or give init='random'."
)
_REFERENCES = 500  # rows that the others are placed by, where there are too many for all distances


def pca_initialization(X: np.ndarray, unit: float, n_components: int) -> np.ndarray:
    """The leading principal components in multiples of ``unit``; zero beyond the rank of the table."""
    if len(X) > _PART and X.shape[1] <= _FEW:
        return _pca_in_parts(X, unit, n_components)
    X = as_doubles(X)
    centred = (X - X.mean(axis=0)) / unit
    # The mean of a constant column is rounded, which of a large one may be more than all other columns span.
    centred[:, (np.abs(centred[0]) > _ROUNDING) & (X == X[0]).all(axis=0)] = 0.0
    n, m = X.shape
    count = min(n_components, n, m)
    Z = np.zeros((n, n_components))
    if m <= n:
        _, axes = top_eigenpairs(lambda v: centred.T @ (centred @ v), m, count)
        Z[:, :count] = centred @ axes
    else:
        values, vectors = top_eigenpairs(lambda v: centred @ (centred.T @ v), n, count)
        Z[:, :count] = vectors * np.sqrt(np.maximum(values, 0.0))
    return Z


def _pca_in_parts(X: np.ndarray, unit: float, n_components: int) -> np.ndarray:
    """As above for a long table, by the products of its columns: a part of the rows is centred at a time."""
    mean, alike = X.mean(axis=0, dtype=np.float64), np.ones(X.shape[1], np.bool_)
    parts = [slice(start, start + _PART) for start in range(0, len(X), _PART)]
    for part in parts:
        alike &= (X[part] == X[0]).all(axis=0)
    alike &= np.abs((X[0] - mean) / unit) > _ROUNDING

    def centred(part: slice) -> np.ndarray:
        rows = (X[part] - mean) / unit
        rows[:, alike] = 0.0
        return rows

    products = np.zeros((X.shape[1], X.shape[1]))
    for part in parts:
        rows = centred(part)
        products += rows.T @ rows
    count = min(n_components, X.shape[1])
    _, axes = top_eigenpairs(lambda v: products @ v, X.shape[1], count)
    Z = np.zeros((len(X), n_components))
    for part in parts:
        Z[part, :count] = centred(part) @ axes
    return Z


def scaling_initialization(
    distances: Distances,
    pairs: AllPairs | SampledPairs,
    unit: float,
    n_components: int,
    random: np.random.RandomState,
) -> np.ndarray:
    """Initialize by classical scaling of all distances, or by landmark MDS.

    Distances that are not Euclidean may leave a coordinate without extent, from which no descent could
    lead away: it gets a little noise.
    """
    if isinstance(pairs, AllPairs):
        Z = initial_scaling(pairs.distances, pairs.n, n_components, distances.n_jobs).embedding / unit
    else:
        Z = landmark_initialization(distances, n_components, random) / unit
    return jittered(Z, random)


def landmark_initialization(
    distances: Distances, n_components: int, random: np.random.RandomState
) -> np.ndarray:
    """Initialize by landmark MDS: classical scaling of some rows, by which the others are mapped."""
    n = len(distances.X)
    references = np.sort(random.permutation(n)[:_REFERENCES])
    between = squareform(distances.of_rows(references, references), checks=False)
    scaling = initial_scaling(between, len(references), n_components, distances.n_jobs)
    rows = np.arange(n)
    return map_by_landmarks(scaling, n, lambda block: distances.of_rows(rows[block], references),
                              n_jobs=distances.n_jobs)  # fmt: skip


def initial_scaling(distances: np.ndarray, n: int, n_components: int, n_jobs: int | None) -> Scaling:
    """Classical scaling without the warning about distances that are not Euclidean."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NegativeEigenvalueWarning)
        return classical_scaling(distances, n, n_components, n_jobs=n_jobs)


def jittered(Z: np.ndarray, random: np.random.RandomState, spread: float = SPREAD) -> np.ndarray:
    """Add a little noise to coordinates without extent, which no descent could leave; in place.

    Warns if that is all of them: the initialization is random then.
    """
    flat = ~Z.any(axis=0)
    if flat.all():
        warn(_WITHOUT_EXTENT, TableWarning)
    Z[:, flat] = spread * random.standard_normal((len(Z), int(flat.sum())))
    return Z


def user_initialization(init, n: int, n_components: int, names: tuple[str, ...]) -> np.ndarray:
    """Check initial coordinates given by the user; ``names`` are the initializations that have a name."""
    shape = (n, n_components)
    must_be = f"{', '.join(map(repr, names))} or finite coordinates of shape {shape}"
    require(np.shape(init) == shape, "init", must_be, np.shape(init) or init)
    Z = check_array(unmasked("init", init), dtype=np.float64, ensure_all_finite=False, copy=True)
    require(bool(np.isfinite(Z).all()), "init", must_be, "infinite or missing numbers")
    return Z


def random_initialization(
    n: int, n_components: int, random: np.random.RandomState, *, wide: bool
) -> np.ndarray:
    return (_WIDE_SPREAD if wide else SPREAD) * random.standard_normal((n, n_components))


# --------------------------------------------------------------------------------------------------
# A spectral start: leading eigenvectors of a graph of affinities, one part of the graph after the other.


WIDTH = 10.0  # of a start, along its widest coordinate
_LONELY = 1e-2  # the radius of a part whose middle is that of another, in widths


def spectral_initialization(
    W: csr_array, d: int, layout_of_parts: Callable[[], np.ndarray], n_jobs: int | None = None
) -> np.ndarray:
    """Laplacian eigenmaps of the graph ``W``, 10 wide; for a disconnected graph those of its components.

    Each component lies around the middle of its rows in ``layout_of_parts()``, no wider than the distance
    to the nearest other one.

    ``O(nnz)`` a product with the graph and vector, some hundreds of products.
    """
    labels = component_labels(W.indptr, W.indices, W.data > 0)
    if labels.max() == 0:
        return with_width(_eigenmap(W, d, n_jobs))
    layout = layout_of_parts()
    sizes = np.bincount(labels)
    middles = np.column_stack([np.bincount(labels, weights=column) for column in layout.T]) / sizes[:, None]
    middles = with_width(middles)
    order = np.argsort(labels, kind="stable")
    Z = np.empty_like(layout)
    for part, rows in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        gaps = np.linalg.norm(np.delete(middles, part, axis=0) - middles[part], axis=1)
        radius = max(0.5 * float(gaps.min()), _LONELY * WIDTH)
        Z[rows] = middles[part]
        if len(rows) > 1:
            Z[rows] += with_width(_eigenmap(csr_array(W[rows][:, rows]), d, n_jobs)) * (2.0 * radius / WIDTH)
    return Z


def with_width(Z: np.ndarray) -> np.ndarray:
    """Centre coordinates, and scale the widest one to a width of 10."""
    Z = Z - (Z.max(axis=0) + Z.min(axis=0)) / 2
    widest = float(np.ptp(Z, axis=0).max())
    return Z * (WIDTH / widest) if widest > 0 else Z


def _eigenmap(W: csr_array, d: int, n_jobs: int | None) -> np.ndarray:
    """Coordinates of a connected graph; zero where it has too few rows for them."""
    n = W.shape[0]
    count = min(d, n - 1)
    adjacency, degrees = normalized_adjacency(W)
    del W  # and the memory of that of a component, which nobody else has
    Z = np.zeros((n, d))
    Z[:, :count] = leading_eigenvectors(adjacency, count, known=np.sqrt(degrees), n_jobs=n_jobs)
    return Z


# ---- Warm starts: a descent goes on from an earlier map, its rows matched by name ----------------


_NEAR = 5  # rows with a place, between which a row without one begins
_EQUAL = 1e-9  # of the distance of the last of them: a row as near as that is at the same place
_TINY = float(np.finfo(float).tiny)
_KINDS = "a fitted estimator, a DataFrame of coordinates by row name, or an array (n, n_components)"


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Coordinates of rows in an earlier map, and how many steps to take from there."""

    places: np.ndarray  # (n, d), NaN for rows that the map has not
    steps: int | None = None  # None for as many as the method takes from an earlier map


def previous_embedding(X: Any, init: Any, n_components: int) -> WarmStart | None:
    """Coordinates of the rows of ``X`` in an earlier map: an estimator, a table by row name, or an array."""
    if init is None:
        return None
    if isinstance(init, WarmStart):
        require(init.places.shape[1] == n_components, "n_components",
                "that of the map, to go on from it", n_components)  # fmt: skip
        return init
    Z = _previous_coordinates(X, init, n_components)
    finite = np.isfinite(Z).all(axis=1)
    hint = "Do the names of the rows agree? They are the index of X, and that of the earlier map."
    require(bool(finite.any()), "init", "a map that has rows of X", f"none of {len(Z)}", hint)
    return WarmStart(Z)


def _previous_coordinates(X: Any, init: Any, d: int) -> np.ndarray:
    """Coordinates of the rows of ``X`` in an earlier map, NaN for those that it has not."""
    names = row_names(X)
    if hasattr(init, "get_params"):
        require(is_fitted(init), "init", _KINDS, init, "Fit it first.")
        known, Z = getattr(init, "training_row_names", None), init.embedding_
        if known is None or names is None:
            known, Z = None, np.asarray(init.transform(X), float)  # fitted rows have their own places
    else:
        known, Z = row_names(init), _numbers(init)
    must_be = f"a map of {d} coordinates, as n_components says"
    require(Z.ndim == 2 and Z.shape[1] == d, "init", must_be, f"shape {Z.shape}")
    require(bool(np.isfinite(Z).all()), "init", "finite everywhere", "infinite or missing numbers")
    if known is None:
        n = _num_samples(X)
        hint = "Row names, as the index of DataFrames, match rows of other tables."
        require(len(Z) == n, "init", f"a map of the {n} rows of X", f"{len(Z)} rows", hint)
        return Z.copy()
    hint = "Its rows are matched by name: give X as a DataFrame with an index, or an array of all rows."
    require(names is not None, "X", "a table with row names", type(X).__name__, hint)
    assert names is not None
    found = matched_names(names, known, "row names")
    return np.where(found[:, None] >= 0, Z[found], np.nan)


def complete_coordinates(warm: WarmStart, X: np.ndarray, metric: Any, n_jobs: int | None) -> np.ndarray:
    """Coordinates for every row: its own in the earlier map, or a mean of those of its nearest rows.

    ``z = sum_j z_j / d_j / sum_j 1 / d_j`` over the five nearest rows that have a place.
    """
    Z = warm.places.copy()
    known = np.isfinite(Z).all(axis=1)
    new, there = np.flatnonzero(~known), np.flatnonzero(known)
    if len(new):
        metric = metric_of_rows(metric)
        queries = X[np.ix_(new, there)] if metric == "precomputed" else X[new]
        near, away = nearest_among(np.ascontiguousarray(queries), X[there], min(_NEAR, len(there)),
                                   metric=metric, n_jobs=n_jobs)  # fmt: skip
        weights = 1.0 / (away / np.maximum(away[:, -1:], _TINY) + _EQUAL)
        weights /= weights.sum(axis=1, keepdims=True)
        Z[new] = np.einsum("ij,ijc->ic", weights, Z[there][near])
    apart = bool(np.ptp(Z, axis=0).any())
    require(apart, "init", "a start that tells rows apart", "the same place for all of them")
    return Z


def _numbers(init: Any) -> np.ndarray:
    try:
        return np.asarray(unmasked("init", init), float)
    except (TypeError, ValueError):
        require(False, "init", _KINDS, init)
        raise
