"""Manifold sculpting: dimensions are scaled away while lengths and angles of neighbourhoods are restored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Count
from ..._core.errors import require
from ..._core.runtime import generator, row_blocks
from ..._core.specs import Array, Double, Number, Whole
from ..._core.state import Sub
from ..._core.values import Knn
from ...embedding.embedder import Embedder
from ...embedding.initialization import pca_initialization
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...kernels._jit import threads
from ...kernels.pairs.sculpting import opposite_neighbors, optimize_sculpted, sculpt_pass
from ...neighbors import clipped_neighbors, nearest_among, searched_neighbors

_AXES = 30  # principal ones that are kept at first
_SHRINK, _GONE = 0.99, 0.01  # of the removed axes in a pass, and when they count as removed
_AS_LONG = 1.0 - 1e-9  # but for rounding: what is not bent is left alone
_PATIENCE = 50  # passes without progress after which it ends
_MAX_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class SculptedMap(Part):
    """New rows climb down their own error of lengths and angles, with the training rows fixed."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    Z: Annotated[np.ndarray, Array("n", "d")]
    unit: Annotated[float, Double(0)]  # the mean length; 0 where all rows are equal
    near: Annotated[np.ndarray, Array("n", "k", dtype=np.int64, below="n")]

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        out = np.zeros((len(X), self.Z.shape[1]))
        if self.unit == 0:
            return out
        fitted = self.data.X
        near = nearest_among(X, fitted, self.near.shape[1], n_jobs=n_jobs)[0].astype(np.int64)
        turns, lengths, angles = _opposite(fitted / self.unit, self.near, X / self.unit, near, n_jobs)
        with threads(n_jobs):
            optimize_sculpted(self.Z / self.unit, near, turns, lengths, angles, out)
        return out * self.unit


class ManifoldSculpting(Embedder):
    """Manifold sculpting: scale dimensions away while rows move to restore lengths and angles.

    The data are turned to their principal axes. Pass after pass all but ``n_components`` of them shrink by
    one per cent, and rows, in breadth-first order from one drawn at random, climb down the error
    ``sum_j w (((l - l0) / 2 m)^2 + ((a - a0) / pi)^2)`` of their lengths l to k neighbours and angles a to
    the neighbours opposite, m the mean length; rows moved before in the same pass weigh ten times. The best
    of several tries is kept. A new row climbs down its own error, with the fitted rows fixed.

    **Not reliable.** Where a surface is folded it stays so: on a Swiss roll of 1,000 rows with 12 neighbours
    the best of five tries has a Procrustes error of 0.26, the best of five others 0.28 (ISOMAP 0.0005);
    on an S-curve, 0.25. Hold a map against ISOMAP's before trusting it.

    Cost: ``O(n k m)`` time for a step, about 500 passes of a few steps each, and ``O(n (m + k))`` memory,
    both times the number of tries. Up to 5,000 rows.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row, at least 2.
    n_components : int
        Dimension of the map.
    n_tries : int
        Runs with other random numbers, of which the one of least error is kept.
    max_iter : int
        Passes at most; 459 remove the axes, and 50 without progress end it after that.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    error_ : float
        Mean error of a neighbour, in the map.
    errors_ : array of shape (n_tries,)
        That of each try.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Gashler, Ventura and Martinez (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import ManifoldSculpting
    >>> angle = np.linspace(0, 3, 60)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> sculpted = ManifoldSculpting(4, 1, n_tries=2).fit(arc)
    >>> bool(np.ptp(sculpted.embedding_) > 2.5)  # nearly its length, 3: it was unbent
    True
    """

    error_: Annotated[float, Number(0)]
    errors_: Annotated[np.ndarray, Array("tries", least=0)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[SculptedMap, Sub(SculptedMap)]

    def __init__(
        self,
        n_neighbors: Annotated[int, Count("an integer of at least 2", least=2)] = 12,
        n_components: NComponents = 2,
        *,
        n_tries: Annotated[int, Count("a positive integer", most=10**6)] = 5,
        max_iter: Annotated[int, Count("a number of passes", least=0)] = 1000,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_tries = n_tries
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, lengths, angles; then passes that shrink axes and restore them, for each try.

        ``y`` is not used.
        """
        data, n_jobs = training_data(self, X), self.n_jobs
        hint = "Take a sample of the rows."
        require(data.n <= _MAX_ROWS, "X", f"a table of at most {_MAX_ROWS:,} rows", f"{data.n:,} rows", hint)
        k = clipped_neighbors(self.n_neighbors, data.n - 1)
        found = searched_neighbors(data.X, Knn(k), n_jobs=n_jobs)
        near, unit = found.indices.astype(np.int64), float(found.distances.mean())
        Z, errors, passes = np.zeros((data.n, self.n_components)), np.zeros(self.n_tries), 0
        if unit:
            seed = int(generator(self.random_state).randint(2**31 - 1))
            Z, errors, passes = _sculpt(data.X, near, unit, d=self.n_components, n_tries=self.n_tries,
                                        max_iter=self.max_iter, seed=seed, n_jobs=n_jobs)  # fmt: skip
        Z, errors = data.merge_duplicates(Z * unit), errors / near.size
        return self._set_fit(Z, SculptedMap(data, Z, unit, near), errors_=errors, error_=float(errors.min()),
                             n_iter_=passes)  # fmt: skip


def _sculpt(
    X: np.ndarray, near: np.ndarray, unit: float, *, d: int, n_tries: int, max_iter: int, seed: int, n_jobs
) -> tuple[np.ndarray, np.ndarray, int]:
    """The best map of all tries, the error of each, and the number of passes."""
    turned = pca_initialization(X, unit, max(d, min(_AXES, X.shape[1], len(X))))
    opposite = _opposite(X / unit, near, X / unit, near, n_jobs)
    Y = np.tile(turned, (n_tries, 1, 1))
    rates, errors = np.ones(n_tries), np.zeros(n_tries)
    best, least, since = Y[:, :, :d].copy(), np.full(n_tries, np.inf), 0
    last = int(np.ceil(np.log(_GONE) / np.log(_SHRINK)))
    for block in row_blocks(max_iter, "passes", size=1):
        Y[:, :, d:] *= _SHRINK if block.start < last else 0.0
        _stretch(Y, d, near)
        with threads(n_jobs):
            sculpt_pass(Y, d, near, *opposite, seed, block.start, rates, errors)
        lower = (errors < least) | (block.start <= last)
        best[lower], least[lower] = Y[lower][:, :, :d], errors[lower]
        since = 0 if lower.any() else since + 1
        if since >= _PATIENCE:
            break
    if max_iter == 0:
        return best[0], np.zeros(n_tries), 0
    return best[least.argmin()], least, block.stop


def _opposite(X, near, queries, near_of_queries, n_jobs):
    """For each neighbour of each query: the neighbour of it most nearly opposite, the length, the angle."""
    shape = near_of_queries.shape
    turns, lengths, angles = np.zeros(shape, np.int64), np.empty(shape), np.empty(shape)
    with threads(n_jobs):
        opposite_neighbors(X, near, turns, lengths, angles, queries, near_of_queries)
    return turns, lengths, angles


def _stretch(Y: np.ndarray, d: int, near: np.ndarray) -> None:
    """Scale the kept axes up until neighbours are at the mean length again, which is 1; in place."""
    for mine in Y:
        gaps = ((mine[:, None, :] - mine[near]) ** 2).reshape(-1, Y.shape[2])
        kept, removed = gaps[:, :d].sum(axis=1), gaps[:, d:].sum(axis=1)
        scale = 1.0
        while kept.any() and np.sqrt(scale * scale * kept + removed).mean() < _AS_LONG:
            scale /= _SHRINK
        mine[:, :d] *= scale
