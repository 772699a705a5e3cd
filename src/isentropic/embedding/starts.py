"""Where the search for a map starts: principal components, classical scaling, or noise."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.utils import check_array

from .._core.arguments import unmasked
from .._core.errors import NegativeEigenvalueWarning, TableWarning, require, warn
from .._core.runtime import row_blocks
from ..linalg import classical_scaling, top_eigenpairs
from ..objectives import AllPairs, DrawnPairs
from .pair_distances import Distances

SPREAD = 1e-4  # of a start at random, as published for descent with momentum
_WIDE_SPREAD = 0.1  # for L-BFGS, whose first steps in so small a cloud would be too short to matter
_ROUNDING = 1e-9  # of the unit
_WITHOUT_EXTENT = (
    "The initialization has no extent: the rows it is computed from are all equal. A random one takes its "
    "place, seeded by random_state. Look for duplicate rows, or give init='random'."
)
_REFERENCES = 500  # rows that the others are placed by, where there are too many for all distances


def principal_start(X: np.ndarray, unit: float, n_components: int) -> np.ndarray:
    """The leading principal components in multiples of ``unit``; zero beyond the rank of the table."""
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


def scaled_start(
    distances: Distances,
    pairs: AllPairs | DrawnPairs,
    unit: float,
    n_components: int,
    random: np.random.RandomState,
) -> np.ndarray:
    """Classical scaling of the distances: of all, or of some rows by which the others are placed.

    Distances that are not Euclidean may leave a coordinate without extent, from which no descent could
    lead away: it gets a little noise.
    """
    if isinstance(pairs, AllPairs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NegativeEigenvalueWarning)  # only a start
            scaling = classical_scaling(pairs.distances, pairs.n, n_components, n_jobs=distances.n_jobs)
        Z = scaling.embedding / unit
    else:
        Z = landmark_start(distances, n_components, random) / unit
    return roughened(Z, random)


def landmark_start(distances: Distances, n_components: int, random: np.random.RandomState) -> np.ndarray:
    """Classical scaling of some rows, by which the others are placed (landmark MDS)."""
    n = len(distances.X)
    references = np.sort(random.permutation(n)[:_REFERENCES])
    between = distances.of_rows(references, references)
    condensed = squareform(between, checks=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NegativeEigenvalueWarning)  # only a start
        scaling = classical_scaling(condensed, len(references), n_components, n_jobs=distances.n_jobs)
    Z = np.empty((n, n_components))
    for block in row_blocks(n, "start", size=4096):
        Z[block] = scaling.place(distances.of_rows(np.arange(n)[block], references))
    return Z


def roughened(Z: np.ndarray, random: np.random.RandomState, spread: float = SPREAD) -> np.ndarray:
    """Coordinates without extent, from which no descent could lead away, get a little noise; in place.

    Warns where that is all of them: the start is a random one then.
    """
    flat = ~Z.any(axis=0)
    if flat.all():
        warn(_WITHOUT_EXTENT, TableWarning)
    Z[:, flat] = spread * random.standard_normal((len(Z), int(flat.sum())))
    return Z


def given_start(init, n: int, n_components: int, names: tuple[str, ...]) -> np.ndarray:
    """Coordinates to start from that are given, checked; ``names`` are the starts that have one."""
    shape = (n, n_components)
    must_be = f"{', '.join(map(repr, names))} or finite coordinates of shape {shape}"
    require(np.shape(init) == shape, "init", must_be, np.shape(init) or init)
    Z = check_array(unmasked("init", init), dtype=np.float64, ensure_all_finite=False, copy=True)
    require(bool(np.isfinite(Z).all()), "init", must_be, "infinite or missing numbers")
    return Z


def random_start(n: int, n_components: int, random: np.random.RandomState, *, wide: bool) -> np.ndarray:
    return (_WIDE_SPREAD if wide else SPREAD) * random.standard_normal((n, n_components))
