"""t-SNE's descent: joint affinities, early exaggeration, momentum and gains."""

from __future__ import annotations

import numpy as np

from .._errors import require_count
from ..affinities import joint_affinities
from ..objectives import StudentNeighbors
from ..optim import Phase, phased_descent
from .perplexity_maps import Listed, StudentEmbedder

_SPREAD = 1e-4  # standard deviation of the start
_EARLY = 250  # steps with early exaggeration, at most a third of all
_LONGEST = 5.0  # step of a row


class StudentMap(StudentEmbedder):
    """A map by t-SNE's descent: t-SNE, and those whose affinities are of another dissimilarity."""

    _pair_bytes = 0  # it holds lists alone

    def _phases(self, early: float = 12.0, late: float = 1.0) -> list[tuple[int, float]]:
        """Steps and exaggeration, early and late."""
        steps = require_count("max_iter", self.max_iter, "a number of steps", least=0)
        first = min(_EARLY, steps // 3)
        return [(first, early), (steps - first, late)]

    def _descended(
        self, given: Listed, conditional: np.ndarray, steps: list[tuple[int, float]], dof: float = 1.0
    ) -> tuple[np.ndarray, StudentNeighbors]:
        """From the start down ``KL(P || Q)``, P the joint form of conditional affinities; the cost."""
        P = joint_affinities(given.lists, conditional, n_jobs=self.n_jobs)
        cost = StudentNeighbors(P, n_components=self.n_components, dof=dof, n_jobs=self.n_jobs)
        start = self._scaled_start(given, _SPREAD)
        phases = [Phase(count, factor, len(start) / factor) for count, factor in steps]
        return phased_descent(cost.slopes, start, phases, longest=_LONGEST, n_jobs=self.n_jobs), cost

    def _keep_student(self, given: Listed, Z: np.ndarray, cost: StudentNeighbors, n_iter: int) -> None:
        """The map, how near it comes to the affinities, and what places new rows."""
        self._keep_map(given, Z, n_iter)
        self.repulsion_, self._dof = cost.repulsion, cost.dof
        self.kl_divergence_ = cost.divergence(self.embedding_)
