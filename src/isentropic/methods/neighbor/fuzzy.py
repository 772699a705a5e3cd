"""Stages of UMAP and its variants: fuzzy neighbour graphs, epochs, and the map of new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..._core.runtime import require_memory
from ..._core.specs import Array, Double, Maybe, Number, StateError, Whole
from ..._core.state import Sub
from ..._core.values import Neighbors
from ...affinities import class_intersection, fuzzy_graph, memberships
from ...distances import LARGEST
from ...embedding.class_model import ClassModel
from ...embedding.initialization import WarmStart, spectral_initialization, with_width
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
from ...embedding.row_distances import Distances
from ...embedding.training_data import Part
from ...kernels._jit import threads
from ...kernels.rows.row_descent import FUZZY, optimize_rows
from ...neighbors import component_labels, warn_of_components
from ...objectives import FuzzyMoves
from ...objectives.sampled_losses import SOFTENING
from ...optim import batch_epochs
from .tsne_stages import initial_embedding

STARTS = ("spectral", "pca", "random")
MOST_PUSH = 1000  # far above it, new rows would be pushed out of the map
SAMPLE = 512  # training rows that push a new one
_FEW_ROWS, _EPOCHS_OF_FEW, _EPOCHS_OF_MANY = 10_000, 300, 200
_NOISE = 1e-3  # of initial coordinates, in units: rows at one place must be able to part
_BEGUN = 0.75  # the share of the epochs that an earlier map has behind it: steps are short by then
_WIDTHS = (5.0, 200.0)  # of maps
_EDGE_BYTES = 110  # of a listed neighbour: weights and the graph of both directions, in both precisions
_NEAR = 2.5  # between two classes, at a weight of 0; as umap-learn has it
_FARTHEST = 700.0  # whose exponential is still a number

# Curves in units of the spread: b is 0.8 to 2, a 0.1 to 2. Far beyond, powers of distances are no numbers.
STEEPEST, _FAR_OFF = 10.0, 1e6


class Curve(NamedTuple):
    """The curve ``1 / (1 + a r^(2b))`` of a map, whose unit is the spread."""

    a: float
    b: float
    spread: float

    @property
    def in_spreads(self) -> tuple[float, float]:
        """The curve of a map in units of the spread."""
        return in_spreads(self.a, self.b, self.spread)


def in_spreads(a: float, b: float, spread: float) -> tuple[float, float]:
    """The curve of a map in units of the spread."""
    return a * spread ** (2.0 * b), b


# ---- new rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FuzzyMemberships(Part):
    """Memberships of new rows in the neighborhoods of the ``k`` nearest training rows.

    Where there are classes, a membership is multiplied by ``p + (1 - p) exp(-apart)``, p the probability that
    both rows are of one class.
    """

    k: Annotated[int, Whole(1, below="n")]
    classes: Annotated[Any, Maybe(Sub(ClassModel))] = None
    apart: Annotated[Any, Maybe(Double(0, most=_FARTHEST))] = None  # distance of two classes

    def of_new(self, X: np.ndarray, query: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Near rows and their memberships, (b, k) each."""
        indices, near = query.nearest(X, self.k, n_jobs)
        weights = memberships(near, n_jobs=n_jobs)
        if self.classes is not None:
            same = self.classes.same_class(X, indices.astype(np.int64), n_jobs)
            weights = weights * (same + (1.0 - same) * np.exp(-self.apart))
            weights = weights / weights.max(axis=1, keepdims=True)
        return indices, weights

    def _require_sound(self) -> None:
        if (self.classes is None) != (self.apart is None):
            raise StateError("apart", "must be there for a map that learnt from classes, and for no other")
        if self.classes is not None:
            self.classes.require_guesses()


@dataclass(frozen=True, eq=False)
class FuzzyLayout(Part):
    """An embedding whose near rows attract a new row by a curve of distance; a sample of rows repels it."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    a: Annotated[float, Number(above=0)]
    b: Annotated[float, Number(above=0, most=STEEPEST)]
    spread: Annotated[float, Number(1e-50, most=1e50)]  # the unit of the map
    push: Annotated[float, Number(0)]
    far: Annotated[np.ndarray, Array("r", dtype=np.int64, below="n")]  # the rows that push

    def optimize(self, rows: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, from the nearest row, or the mean of near ones."""
        shape = np.array([*in_spreads(self.a, self.b, self.spread), self.push, SOFTENING])
        Z = self.Z / self.spread
        return optimize_among(FUZZY, Z, rows, weights, self.far, shape, n_jobs) * self.spread

    def _require_sound(self) -> None:
        if not 1.0 / _FAR_OFF <= in_spreads(self.a, self.b, self.spread)[0] <= _FAR_OFF:
            raise StateError("a", "must be that of a curve of this spread")


class FuzzyMap(RowOptimizer):
    """The out-of-sample map of UMAP."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[FuzzyMemberships, Sub(FuzzyMemberships)]
    layout: Annotated[FuzzyLayout, Sub(FuzzyLayout)]


def optimize_among(
    cost: Any, Z: np.ndarray, rows: np.ndarray, weights: np.ndarray, far: np.ndarray, shape: Any, n_jobs: Any
) -> np.ndarray:
    """Coordinates of new rows, each at a minimum of its ``cost``.

    ``rows`` and ``weights`` (b, k) are near ones; the training rows ``far`` are those that push any new one.
    """
    near = rows.astype(np.int64)
    mean = (weights[:, :, None] * Z[near]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    starts = np.stack([Z[near[:, 0]], mean], axis=1)
    pushing = np.ascontiguousarray(np.broadcast_to(far, (len(weights), len(far))))
    with threads(n_jobs):
        return optimize_rows(cost, starts, Z, near, weights, pushing, shape)


# ---- the fit -----------------------------------------------------------------------------------


def require_fuzzy_memory(k: int, n: int) -> None:
    """Require enough memory."""
    require_memory(_EDGE_BYTES * n * min(k, n), f"UMAP of {n:,} rows", "Take fewer neighbours.")


def class_distance(weight: float) -> float:
    """The distance between two classes: ``2.5 / (1 - weight)``."""
    return min(_NEAR / (1.0 - weight), _FARTHEST) if weight < 1 else _FARTHEST


def class_fuzzy_graph(
    knn: Neighbors, classes: ClassModel | None, apart: float | None, n_jobs: int | None
) -> csr_array:
    """The fuzzy graph of neighbor lists, intersected with that of the classes where there are some."""
    W = fuzzy_graph(knn, n_jobs=n_jobs)
    if classes is not None and classes.n_classes > 1:  # else there is nothing to intersect with: UMAP
        assert apart is not None
        heads = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
        W = class_intersection(W, classes.training.same(heads, W.indices.astype(np.int64)), apart)
    warn_of_components(component_labels(W.indptr, W.indices, W.data > 0))
    return W


def epochs(n_epochs: int | None, n: int, previous: WarmStart | None = None) -> int:
    """Number of epochs; from an earlier map those of the last quarter."""
    count = n_epochs
    if count is None:
        count = _EPOCHS_OF_FEW if n <= _FEW_ROWS else _EPOCHS_OF_MANY
    if previous is None:
        return int(count)
    return round(count * (1.0 - _BEGUN)) if previous.steps is None else previous.steps


def fuzzy_initialization(
    W: csr_array,
    distances: Distances,
    init: Any,
    n_components: int,
    spread: float,
    random: np.random.RandomState,
    previous: WarmStart | None = None,
) -> np.ndarray:
    """Initialize 10 units wide, with a little noise; an earlier map stays as it is."""

    def start() -> np.ndarray:
        return initial_embedding(distances, init, n_components, random, previous, STARTS)

    if previous is not None:
        Z = start() / spread
        return Z if previous.steps is not None or _is_map(Z) else with_width(Z)
    if isinstance(init, str) and init == "spectral":
        Z = spectral_initialization(W, n_components, start, distances.n_jobs)
    else:
        Z = with_width(start())
    return Z + _NOISE * random.standard_normal(Z.shape)


def run_epochs(
    W: csr_array,
    start: np.ndarray,
    curve: Curve,
    push: float,
    n_epochs: int,
    seed: int,
    n_jobs: int | None,
    *,
    warm: bool = False,
) -> np.ndarray:
    """Run epochs and centre the coordinates; ``warm`` continues an earlier map."""
    begun = _BEGUN if warm else 0.0
    moves = FuzzyMoves(W, curve.in_spreads, push=push, n_epochs=n_epochs, seed=seed, begun=begun)
    Z = batch_epochs(moves, start, n_epochs, n_jobs=n_jobs)
    return (Z - Z.mean(axis=0)) * curve.spread


def _is_map(Z: np.ndarray) -> bool:
    """Whether coordinates are as wide as maps of this kind can be."""
    narrowest, widest = _WIDTHS
    return narrowest <= float(np.ptp(Z, axis=0).max()) <= widest
