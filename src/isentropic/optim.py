"""Optimizers: from a start and a function of value and gradient to a minimum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from ._core.runtime import one_blas_thread, row_blocks
from .kernels._jit import threads
from .kernels.layouts.neighbor_forces import momentum_step
from .kernels.networks import MEAN, SQUARE, adam_step, bias_corrections

# ---- Adam: stochastic descent whose steps are in units of the recent gradients of each parameter ----


_LEAST = 1e-8


class Adam:
    """The steps of Kingma and Ba (2015) for one vector of parameters, which they change in place.

    >>> import numpy as np
    >>> point = np.array([1.0, -2.0])
    >>> adam = Adam(point, 0.1)
    >>> for _ in range(500):
    ...     adam.step(2 * point)
    >>> bool(np.abs(point).max() < 1e-3)
    True
    """

    def __init__(self, vector: np.ndarray, rate: float):
        self.vector, self.rate = vector, rate
        self.means, self.squares = np.zeros_like(vector), np.zeros_like(vector)
        self.steps = 0
        kind = vector.dtype.type
        self._factors = tuple(kind(x) for x in (MEAN, SQUARE, 1 - MEAN, 1 - SQUARE))

    def step(self, gradient: np.ndarray) -> None:
        """One step down the gradient. ``O(size)``."""
        self.steps += 1
        of_mean, of_squares = bias_corrections(self.steps)
        rate, least = self.rate * of_squares / of_mean, _LEAST * of_squares
        kind = self.vector.dtype.type
        adam_step(self.vector, gradient, self.means, self.squares, kind(rate), *self._factors, kind(least))


# ---- Batch epochs: all rows move at once, each by what it sees of the last positions of the others ----


_FEW = 4096  # rows


class Move(Protocol):
    """Writes into ``out`` where the rows of ``Z`` go in an epoch, and keeps what it needs in ``memory``."""

    n_memories: int  # arrays of the size of Z, at first zero

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None: ...


def batch_epochs(move: Move, start: np.ndarray, n_epochs: int, *, n_jobs: int | None = None) -> np.ndarray:
    """Positions after so many epochs, in single precision on the way: two buffers that take turns.

    Progress is reported, and Ctrl-C let in, after every epoch. Few rows take one thread: an epoch of them is
    shorter than others take to wake up.

    >>> import numpy as np
    >>> class Halve:
    ...     n_memories = 0
    ...     def __call__(self, Z, memory, out, epoch):
    ...         np.multiply(Z, 0.5, out=out)
    >>> batch_epochs(Halve(), np.array([[8.0, 4.0]]), 3).tolist()
    [[1.0, 0.5]]
    """
    Z = np.array(start, np.float32, order="C")  # a copy: the buffers are written into
    out, memory = np.empty_like(Z), np.zeros((move.n_memories, *Z.shape), np.float32)
    for block in row_blocks(n_epochs, "epochs", size=1):
        with threads(1 if len(Z) <= _FEW else n_jobs):
            move(Z, memory, out, block.start)
        Z, out = out, Z
    return Z.astype(np.float64)


# ---- What an optimiser is given and what it hands back -------------------------------------------


Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # an array to its value and gradient


@dataclass(frozen=True, slots=True)
class Minimum:
    """The best point found, its value, the steps taken, and whether the tolerance was met."""

    point: np.ndarray
    value: float
    n_iter: int
    converged: bool


# ---- Gradient descent with momentum and gains, as the publications of t-SNE and SDD have it ------


_WORTH_THREADS = 10_000  # rows: below that, waking threads costs more than a step
_MORE, _LESS, _LEAST_GAIN = 0.2, 0.8, 0.01  # what gains grow by, shrink by, and have at least


def momentum_descent(
    objective: Objective, start: np.ndarray, *, max_iter: int, learning_rate: float, momentum: float
) -> Minimum:
    """``step = momentum step - rate gain gradient``, the result centred after every step.

    The gain of a coordinate grows while its gradient and its last step point opposite ways, and shrinks
    otherwise. For reproduction: :func:`~isentropic.optim` takes a small part of the steps.

    >>> import numpy as np
    >>> square = lambda z: (float((z**2).sum()), 2 * z)
    >>> start = np.array([[1.0], [-1.0]])
    >>> found = momentum_descent(square, start, max_iter=200, learning_rate=0.1, momentum=0.8)
    >>> bool(np.abs(found.point).max() < 1e-6)
    True
    """
    point, step, gains = start.copy(), np.zeros_like(start), np.ones_like(start)
    for _ in row_blocks(max_iter, "descent steps", size=1):
        _, gradient = objective(point)
        agree = (gradient > 0) == (step > 0)
        gains = np.maximum(np.where(agree, gains * _LESS, gains + _MORE), _LEAST_GAIN)
        step = momentum * step - learning_rate * gains * gradient
        point = point + step
        point -= point.mean(axis=0)
    return Minimum(point, objective(point)[0], max_iter, True)


@dataclass(frozen=True, slots=True)
class Phase:
    """Some steps of :func:`phased_descent`, with one factor of the pull."""

    steps: int
    exaggeration: float
    learning_rate: float
    momentum: float = 0.8


def phased_descent(
    gradient: Callable[[np.ndarray, float], np.ndarray],
    start: np.ndarray,
    phases: Sequence[Phase],
    *,
    longest: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Descent with momentum and gains in phases that exaggerate the pull, as t-SNE has it.

    No step of a row is longer than ``longest``; the result is centred after every step. Steps and gains go on
    from phase to phase.

    >>> import numpy as np
    >>> start = np.array([[1.0], [-1.0]])
    >>> phases = [Phase(20, 2.0, 0.1), Phase(200, 1.0, 0.1)]
    >>> found = phased_descent(lambda z, factor: factor * z, start, phases, longest=1.0)
    >>> bool(np.abs(found).max() < 1e-6)
    True
    """
    point, step, gains = start.copy(), np.zeros_like(start), np.ones_like(start)
    factors = [phase for phase in phases for _ in range(phase.steps)]
    for block in row_blocks(len(factors), "descent steps", size=1):
        phase = factors[block.start]
        found = gradient(point, phase.exaggeration)
        with threads(n_jobs if len(point) > _WORTH_THREADS else 1):
            sums = momentum_step(found, phase.learning_rate, phase.momentum, longest, point, step, gains)
        point -= sums.sum(axis=0) / len(point)
    return point


# --------------------------------------------------------------------------------------------------
# Polyak-Ruppert averaging: stochastic descent with a decreasing step, and the mean of its later points.


FADE = 10.0  # steps after which the step is half of the first one
_FIRST = 0.5  # step, in multiples of what would cross the mean curvature
_UNTIL_MEAN = 1 / 3  # of the steps come before the mean


def averaged_descent(
    views: Iterable[tuple[Objective, float | np.ndarray]], start: np.ndarray, *, steps: int
) -> np.ndarray:
    """Step t goes down the gradient of the t-th objective by ``1 / (2 curvature (1 + t / 10))``.

    For objectives that are each a noisy view of one cost, with its curvature there, one for all or (n, 1).
    Their noise is not fitted, since no view is seen twice, and fades in the mean of the later points, which
    is what comes back.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> views = ((lambda z, shift=shift: (0.0, z - shift), 1.0) for shift in rng.normal(3.0, 1.0, size=200))
    >>> found = averaged_descent(views, np.zeros(1), steps=200)
    >>> bool(abs(found[0] - 3.0) < 0.2)
    True
    """
    point, mean, averaged = start.copy(), start, 0
    for t, (objective, curvature) in enumerate(views):
        _, gradient = objective(point)
        point = point - _FIRST / (curvature * (1.0 + t / FADE)) * gradient
        if t >= _UNTIL_MEAN * steps:
            averaged += 1
            mean = point.copy() if averaged == 1 else mean + (point - mean) / averaged
    return mean


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
