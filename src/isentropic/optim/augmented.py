"""The augmented Lagrangian method (method of multipliers), with L-BFGS inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .lbfgs import lbfgs
from .minimum import Objective

_PENALTY = 1000.0  # at first, for lengths of about 1
_STEEPER = 4.0  # times, where a round has not halved what is violated
_STEEPEST = 1e6
_STEPS = 500  # of L-BFGS in a round
_STILL = 1e-12  # relative descent of a step at which a round ends


class Constrained(Protocol):
    """A cost that is minimised where some excesses are, or are at most, zero."""

    def excess(self, Y: np.ndarray, /) -> np.ndarray: ...
    def moved(self, multipliers: np.ndarray, penalty: float, excess: np.ndarray, /) -> np.ndarray: ...
    def lagrangian(self, multipliers: np.ndarray, penalty: float, /) -> Objective: ...


@dataclass(frozen=True, slots=True)
class ConstrainedMinimum:
    """The last point, its multipliers, the largest violation, the steps taken, whether ``tol`` was met."""

    point: np.ndarray
    multipliers: np.ndarray
    violation: float
    n_iter: int
    converged: bool


def augmented_lagrangian(
    problem: Constrained, start: np.ndarray, *, tol: float, max_iter: int
) -> ConstrainedMinimum:
    """Rounds of descent at fixed multipliers, which then move by what is violated, until that is ``tol``.

    The penalty grows fourfold after a round that has not halved the largest violation.
    """
    point, taken, penalty, least = start, 0, _PENALTY, np.inf
    multipliers = np.zeros(len(problem.excess(start)))
    while True:
        found = lbfgs(
            _from_one(problem.lagrangian(multipliers, penalty), point),
            point,
            max_iter=min(_STEPS, max_iter - taken),
            tol=_STILL,
        )
        point, taken = found.point, taken + max(found.n_iter, 1)
        moved = problem.moved(multipliers, penalty, problem.excess(point))
        # of an inequality that does not bind, what its multiplier still has to lose
        violation = float(np.abs(moved - multipliers).max(initial=0.0)) / penalty
        multipliers = moved
        if violation <= tol or taken >= max_iter:
            return ConstrainedMinimum(point, multipliers, violation, taken, violation <= tol)
        if violation > 0.5 * least:
            penalty = min(_STEEPER * penalty, _STEEPEST)
        least = min(least, violation)


def _from_one(objective: Objective, start: np.ndarray) -> Objective:
    """The same cost, raised to 1 or more at the start: L-BFGS measures its progress by that value."""
    first = objective(start)[0]
    raised = max(abs(first), 1.0) - first

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        cost, gradient = objective(point)
        return cost + raised, gradient

    return value
