"""t-SNE and its kin: affinities of given perplexity, Student weights, descent with momentum and gains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import generator, require_memory
from ..._core.specs import Array, Double, StateError, Text, Whole
from ..._core.state import Sub
from ..._core.values import Neighbors
from ...affinities import conditional_affinities, joint_affinities
from ...distances import LARGEST
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
from ...embedding.pair_distances import Distances
from ...embedding.part import Part
from ...embedding.warm_starts import WarmStart
from ...kernels._jit import threads
from ...kernels.rows.row_costs import STUDENT, STUDENT_FIELD
from ...kernels.rows.row_descent import settle_rows
from ...objectives import Field, StudentNeighbors
from ...optim import Phase, phased_descent
from .initialization import initial_embedding, with_spread

MOST_DOF = 1e6  # degrees of freedom: a Gaussian, to six digits; many more overflow
_MARGIN = 32  # nodes of a field around the map
_SPREAD = 1e-4  # standard deviation of the initial coordinates
_EARLY = 250  # steps with early exaggeration, at most a third of all
_LONGEST = 5.0  # step of a row
_DOUBLINGS = 10  # of the width of a map, from 1 on
_CLOSE = 1.05  # times the least divergence

Schedule = list[tuple[int, float]]  # steps and exaggeration


# ---- new rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PerplexityAffinities(Part):
    """Gaussian affinities of new rows to the ``k`` nearest training rows, the mean over perplexities."""

    perplexities: Annotated[np.ndarray, Array("s", least=1)]
    k: Annotated[int, Whole(1, below="n")]

    def of_new(self, X: np.ndarray, query: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Near rows and their affinities, (b, k) each."""
        indices, distances = query.nearest(X, self.k, n_jobs)
        mean = np.zeros(distances.shape)
        for perplexity in self.perplexities:
            mean += conditional_affinities(distances, perplexity, n_jobs=n_jobs)[0]
        return indices, mean / len(self.perplexities)


@dataclass(frozen=True, eq=False)
class StudentLayout(Part):
    """An embedding with Student weights; the repulsion of all its rows is exact, or a field on a grid."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    dof: Annotated[float, Double(above=0, most=MOST_DOF)]
    repulsion: Annotated[str, Text("exact", "fields")]

    def optimize(self, rows: np.ndarray, P: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows by damped Newton steps from the nearest row, or from the mean."""
        starts, near = starts_among(self.Z, rows, P), rows.astype(np.int64)
        far = np.empty((len(starts), 0), np.int64)
        with threads(n_jobs):
            if self.repulsion == "exact":
                return settle_rows(STUDENT, starts, self.Z, near, P, far, np.array([self.dof]))
            unit = np.sqrt(self.dof)
            return settle_rows(STUDENT_FIELD, starts / unit, self.Z / unit, near, P, far, self._field) * unit

    @cached_property
    def _field(self) -> np.ndarray:
        field = Field((self.dof + 1) / 2)
        plane = np.zeros((len(self.Z), 2), np.float32)
        plane[:, : self.Z.shape[1]] = self.Z / np.sqrt(self.dof)
        nodes, origin, spacing = field.nodes(plane, _MARGIN)
        header = [field.power, *origin.astype(float), spacing, *nodes.shape]
        return np.concatenate([header, nodes.ravel()])

    def _require_sound(self) -> None:
        if self.repulsion == "fields" and self.Z.shape[1] > 2:
            raise StateError("repulsion", "must be exact beyond two dimensions")


class StudentMap(RowOptimizer):
    """The out-of-sample map of t-SNE."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[PerplexityAffinities, Sub(PerplexityAffinities)]
    layout: Annotated[StudentLayout, Sub(StudentLayout)]


def starts_among(Z: np.ndarray, rows: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Two starts for each new row: its nearest row, and the mean of near ones."""
    near = Z[rows]
    return np.stack((near[:, 0], np.einsum("ij,ijc->ic", P, near)), axis=1)


# ---- the descent -------------------------------------------------------------------------------


def seeded(random_state: Any) -> tuple[np.random.RandomState, int]:
    """A generator of what is drawn, and the seed of the search, which is its first number."""
    random = generator(random_state)
    return random, int(random.randint(2**31 - 1))


def require_pair_memory(bytes_a_pair: int, n: int) -> None:
    """Refuse what holds all pairs where memory has no room for them."""
    require_memory(bytes_a_pair * n * n, f"All pairs of {n:,} rows", "Take TSNE.")


def schedule(
    max_iter: int, early: float = 12.0, late: float = 1.0, previous: WarmStart | None = None
) -> Schedule:
    """Steps and exaggeration, early and late; from an earlier map a third of the steps, none early."""
    first = min(_EARLY, max_iter // 3)
    if previous is not None:
        return [(first if previous.steps is None else previous.steps, late)]
    return [(first, early), (max_iter - first, late)]


def student_affinities(knn: Neighbors, perplexity: float, n_jobs: int | None) -> Any:
    """The joint affinities P of t-SNE: conditional ones of a perplexity, symmetrized."""
    P = conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0]
    return joint_affinities(knn, P, n_jobs=n_jobs)


def descend(
    loss: StudentNeighbors,
    distances: Distances,
    steps: Schedule,
    init: Any,
    n_components: int,
    random: np.random.RandomState,
    previous: WarmStart | None = None,
) -> np.ndarray:
    """From initial coordinates down ``KL(P || Q)``, by momentum and gains."""
    Z = initial_embedding(distances, init, n_components, random, previous)
    Z = with_spread(Z, _SPREAD, previous)
    if previous is not None and previous.steps is None:
        Z = _sized(loss, Z)
    phases = [Phase(count, factor, len(Z) / factor) for count, factor in steps]
    return phased_descent(loss.slopes, Z, phases, longest=_LONGEST, n_jobs=distances.n_jobs)


def _sized(loss: StudentNeighbors, Z: np.ndarray) -> np.ndarray:
    """An earlier map as it is, unless it is far better at another size: that of another method may be."""
    width = float(np.ptp(Z, axis=0).max())
    sizes = [2.0**power / width for power in range(_DOUBLINGS)]
    if 0.1 < width < 10 * 2**_DOUBLINGS:
        sizes.insert(0, 1.0)
    values = [loss.divergence(Z * size) for size in sizes]
    best = int(np.argmin(values))
    return Z if sizes[0] == 1.0 and values[0] <= _CLOSE * values[best] else Z * sizes[best]
