"""Multilinear PCA: PCA of rows that are images, or other arrays."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

import numpy as np
from scipy.linalg import eigh, svd

from ..._core.arguments import Real
from ..._core.errors import require, require_count
from ..._core.specs import Array, Each
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg.centering import RANK, CentredRows

_GROWTH = 1e-6  # of the variance kept, at which the sweeps end
_MOST_SWEEPS = 100


class MultilinearPCA(SupportsInverse, Embedder):
    """PCA along each axis of rows that are flattened arrays, then of the small arrays that remain.

    Factors A_1, ..., A_N, one for each axis, keep as much variance of the array products ``x A_1 ... A_N``
    as orthonormal ones of their ranks can: in turn each has the leading eigenvectors of its axis, with the
    others applied, until the variance no longer grows. The coordinates are PCA's of the products. All of it
    is one linear map; with one axis it is PCA. It has few parameters where PCA has many: 8 by 8 images of
    ranks 4 and 4 leave 16 numbers to decompose instead of 64.

    Cost: ``O(n m (P_1 + ... + P_N))`` time a sweep, of which there are a few; ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    shape : tuple of int, optional
        Of the array that a row is, in C order; None is one axis, and PCA.
    ranks : tuple of int, optional
        Columns of each factor. By default as many as keep ``variance`` along their axis.
    variance : float
        Share of the variance along each axis that its factor keeps, where no ranks are given.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        Orthonormal. The entry of largest magnitude of each is positive.
    factors_ : tuple of arrays
        One for each axis, with orthonormal columns, no more than the rows span.
    mean_ : array of shape (m,)
    explained_variance_ratio_ : array of shape (n_components,)
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Lu, Plataniotis and Venetsanopoulos (2008).

    Examples
    --------
    >>> from isentropic import MultilinearPCA, datasets
    >>> mpca = MultilinearPCA(shape=(8, 8), ranks=(4, 4)).fit(datasets.load("builtin:digits").X)
    >>> [factor.shape for factor in mpca.factors_], mpca.components_.shape
    ([(8, 4), (8, 4)], (2, 64))
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    factors_: Annotated[tuple[np.ndarray, ...], Each(Array(None, None))]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        shape: Any = None,
        ranks: Any = None,
        variance: Annotated[float, Real("a number above 0, at most 1", above=0.0, most=1.0)] = 0.97,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.shape = shape
        self.ranks = ranks
        self.variance = variance
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Factors of the axes, in turn; PCA of the products; one linear map. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        n, m = data.table.shape
        require_features(d, data.table)
        shape, ranks = _checked_shape(self.shape, self.ranks, m, d)
        centred = CentredRows.of(data.table)
        arrays = centred.rows.reshape(-1, *shape)
        starts = [_leading(arrays, axis) for axis in range(len(shape))]
        if ranks is None:
            ranks = _ranks_for([values for values, _ in starts], float(self.variance), d)
        first = [vectors[:, :rank] for (_, vectors), rank in zip(starts, ranks, strict=True)]
        factors = tuple(np.ascontiguousarray(factor) for factor in swept(arrays, first))
        cores = _applied(arrays, [factor.T for factor in factors]).reshape(n, -1)
        _, values, axes = svd(cores, full_matrices=False)
        axes = axes[: min(d, int(np.count_nonzero(values > RANK * values[0])))]
        sizes = [factor.shape[1] for factor in factors]
        found = _applied(axes.reshape(len(axes), *sizes), list(factors)).reshape(len(axes), m)
        components = padded_directions(found, d, f"The arrays have a rank of {len(axes)}")
        new_rows = LinearMap.along(data, centred.mean, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=centred.explained(components),
                             factors_=factors)  # fmt: skip


def _checked_shape(
    given: Any, given_ranks: Any, m: int, n_components: int
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Sizes of the axes, and ranks of their factors if any are given."""
    shape = (m,) if given is None else _whole_numbers("shape", given)
    require(prod(shape) == m, "shape", f"of {m} numbers, as many as features", f"{shape}: {prod(shape)}")
    if given_ranks is None:
        return shape, None
    ranks = _whole_numbers("ranks", given_ranks)
    fits = len(ranks) == len(shape) and all(r <= size for r, size in zip(ranks, shape, strict=True))
    require(fits, "ranks", f"one for each axis of {shape}, and at most its size", ranks)
    must_be = f"such that {n_components} coordinates remain"
    require(prod(ranks) >= n_components, "ranks", must_be, f"{ranks}: {prod(ranks)}")
    return shape, ranks


def _whole_numbers(name: str, given) -> tuple[int, ...]:
    is_list = isinstance(given, tuple | list) and len(given) > 0
    require(is_list, name, "a tuple of positive integers", given, f"For instance {name}=(8, 8).")
    return tuple(require_count(name, number) for number in given)


def _unfolded(arrays: np.ndarray, axis: int) -> np.ndarray:
    """(size of the axis, everything else): rows are axis 0 of the arrays and not counted."""
    return np.moveaxis(arrays, axis + 1, 0).reshape(arrays.shape[axis + 1], -1)


def _leading(arrays: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances along an axis of the arrays, largest first, and their directions as columns."""
    flat = _unfolded(arrays, axis)
    if flat.shape[0] > flat.shape[1]:  # a long axis of few rows has no more directions than those
        vectors, deviations, _ = svd(flat, full_matrices=False)
        return deviations**2, vectors
    values, vectors = eigh(flat @ flat.T)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _applied(arrays: np.ndarray, matrices: list[np.ndarray], but: int = -1) -> np.ndarray:
    """Each axis multiplied by its matrix, one axis left out if asked to."""
    for axis, matrix in enumerate(matrices):
        if axis != but:
            arrays = np.moveaxis(np.tensordot(matrix, arrays, (1, axis + 1)), 0, axis + 1)
    return np.ascontiguousarray(arrays)


def _ranks_for(spectra: list[np.ndarray], variance: float, n_components: int) -> tuple[int, ...]:
    """The least ranks that keep the share along each axis, raised until enough coordinates remain."""
    shares = [np.cumsum(values) / (values.sum() or 1.0) for values in spectra]
    ranks = [min(int(np.searchsorted(share, variance)) + 1, len(share)) for share in shares]
    while prod(ranks) < n_components:
        free = [axis for axis, rank in enumerate(ranks) if rank < len(spectra[axis])]
        if not free:
            break
        ranks[max(free, key=lambda axis: spectra[axis][ranks[axis]])] += 1
    return tuple(ranks)


def swept(arrays: np.ndarray, factors: list[np.ndarray]) -> list[np.ndarray]:
    """Each factor anew with the others applied, in turn, until the variance kept no longer grows."""
    factors, kept = list(factors), 0.0
    for _ in range(_MOST_SWEEPS if len(factors) > 1 else 0):
        before = kept
        for axis, factor in enumerate(factors):
            values, vectors = _leading(_applied(arrays, [f.T for f in factors], but=axis), axis)
            factors[axis], kept = vectors[:, : factor.shape[1]], float(values[: factor.shape[1]].sum())
        if kept <= (1 + _GROWTH) * before:
            break
    return factors
