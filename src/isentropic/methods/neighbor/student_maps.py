"""t-SNE's descent: joint affinities, early exaggeration, momentum and gains."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require_count
from ...affinities import joint_affinities
from ...embedding.warm_starts import WarmStart
from ...objectives import StudentNeighbors
from ...optim import Phase, phased_descent
from .perplexity_maps import Listed, StudentEmbedder

_SPREAD = 1e-4  # standard deviation of the start
_EARLY = 250  # steps with early exaggeration, at most a third of all
_LONGEST = 5.0  # step of a row
_DOUBLINGS = 10  # of the width of a map, from 1 on
_CLOSE = 1.05  # times the least divergence


def _sized(cost: StudentNeighbors, Z: np.ndarray) -> np.ndarray:
    """An earlier map as it is, unless it is far better at another size: that of another method may be."""
    width = float(np.ptp(Z, axis=0).max())
    sizes = [2.0**power / width for power in range(_DOUBLINGS)]
    if 0.1 < width < 10 * 2**_DOUBLINGS:
        sizes.insert(0, 1.0)
    values = [cost.divergence(Z * size) for size in sizes]
    best = int(np.argmin(values))
    return Z if sizes[0] == 1.0 and values[0] <= _CLOSE * values[best] else Z * sizes[best]


class StudentMap(StudentEmbedder):
    """A map by t-SNE's descent: t-SNE, and those whose affinities are of another dissimilarity."""

    _pair_bytes = 0  # it holds lists alone

    def _phases(
        self, early: float = 12.0, late: float = 1.0, warm: WarmStart | None = None
    ) -> list[tuple[int, float]]:
        """Steps and exaggeration, early and late; from an earlier map a third of the steps, none early."""
        steps = require_count("max_iter", self.max_iter, "a number of steps", least=0)
        first = min(_EARLY, steps // 3)
        if warm is not None:
            return [(first if warm.steps is None else warm.steps, late)]
        return [(first, early), (steps - first, late)]

    def _descended(
        self, given: Listed, conditional: np.ndarray, steps: list[tuple[int, float]], dof: float = 1.0
    ) -> tuple[np.ndarray, StudentNeighbors]:
        """From the start down ``KL(P || Q)``, P the joint form of conditional affinities; the cost."""
        P = joint_affinities(given.lists, conditional, n_jobs=self.n_jobs)
        cost = StudentNeighbors(P, n_components=self.n_components, dof=dof, n_jobs=self.n_jobs)
        start = self._scaled_start(given, _SPREAD)
        if given.warm is not None and given.warm.steps is None:
            start = _sized(cost, start)
        phases = [Phase(count, factor, len(start) / factor) for count, factor in steps]
        return phased_descent(cost.slopes, start, phases, longest=_LONGEST, n_jobs=self.n_jobs), cost

    def _keep_student(self, given: Listed, Z: np.ndarray, cost: StudentNeighbors, n_iter: int) -> None:
        """The map, how near it comes to the affinities, and what places new rows."""
        self._keep_map(given, Z, n_iter)
        self.repulsion_, self._dof = cost.repulsion, cost.dof
        self.kl_divergence_ = cost.divergence(self.embedding_)
