"""Second-order optimizers: L-BFGS, and the augmented Lagrangian for constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from .._core.runtime import one_blas_thread, row_blocks
from .gradient_descent import Minimum, Objective

# ---- L-BFGS, by scipy, with a tolerance that does not depend on the scale of the cost ------------


_MEMORY = 12  # pairs of steps that stand for the curvature
_ROUNDING = 1e-13  # a cost this small cannot be told from zero: it is the difference of sums of about one


def lbfgs(objective: Objective, start: np.ndarray, *, max_iter: int, tol: float) -> Minimum:
    """Minimise from ``start``; ends when a step lowers the cost by less than ``tol`` of what it was at first.

    ``O(size)`` time a step beyond the objective, and 30 arrays of the size of ``start``.

    >>> import numpy as np
    >>> found = lbfgs(lambda z: (float((z**4).sum()), 4 * z**3), np.ones((2, 2)), max_iter=100, tol=1e-9)
    >>> bool(np.abs(found.point).max() < 0.05), found.converged
    (True, True)
    """
    with one_blas_thread():  # as in every step after it
        value, first = objective(start)
    if max_iter == 0 or abs(value) <= _ROUNDING:
        return Minimum(start.copy(), value, 0, abs(value) <= _ROUNDING)
    progress = row_blocks(max_iter, "L-BFGS steps", size=1)
    next(progress)

    known = [(value, first)]  # scipy begins where the search does

    def scaled(flat: np.ndarray) -> tuple[float, np.ndarray]:
        cost, gradient = known.pop() if known else objective(flat.reshape(start.shape))
        return cost / value, gradient.ravel() / value

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "maxcor": _MEMORY, "ftol": tol, "gtol": 0.0}
    with one_blas_thread():  # the objective takes turns with it
        found = minimize(
            scaled,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=lambda flat: next(progress, None),
            options=options,
        )
    # A line search that finds nothing lower has met the rounding of the cost.
    converged = found.nit < max_iter and found.nfev < 4 * max_iter
    return Minimum(found.x.reshape(start.shape), float(found.fun * value), int(found.nit), converged)


# ---- The augmented Lagrangian method (method of multipliers), with L-BFGS inside -----------------


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
