"""First-order optimizers: momentum with gains, Adam, averaged steps, epochs over sampled pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._core.runtime import row_blocks
from ..kernels._jit import threads
from ..kernels.layouts.neighbor_forces import momentum_step
from ..kernels.networks import MEAN, SQUARE, adam_step, bias_corrections

# ---- Adam: stochastic descent whose steps are in units of the recent slopes of each parameter ----


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

    def step(self, slopes: np.ndarray) -> None:
        """One step down these slopes. ``O(size)``."""
        self.steps += 1
        of_mean, of_squares = bias_corrections(self.steps)
        rate, least = self.rate * of_squares / of_mean, _LEAST * of_squares
        kind = self.vector.dtype.type
        adam_step(self.vector, slopes, self.means, self.squares, kind(rate), *self._factors, kind(least))


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
_MORE, _LESS, _LEAST_GAIN = (
    0.2,
    0.8,
    0.01,
)  # a gain grows by the first, shrinks by the second, and has a floor


def momentum_descent(
    objective: Objective, start: np.ndarray, *, max_iter: int, learning_rate: float, momentum: float
) -> Minimum:
    """``step = momentum step - rate gain gradient``, the result centred after every step.

    The gain of a coordinate grows while its gradient and its last step point opposite ways, and shrinks
    otherwise. For reproduction: :func:`~isentropic.optim.quasi_newton` takes a small part of the steps.

    >>> import numpy as np
    >>> slope = lambda z: (float((z**2).sum()), 2 * z)
    >>> start = np.array([[1.0], [-1.0]])
    >>> found = momentum_descent(slope, start, max_iter=200, learning_rate=0.1, momentum=0.8)
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
    slopes: Callable[[np.ndarray, float], np.ndarray],
    start: np.ndarray,
    phases: Sequence[Phase],
    *,
    longest: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Descent with momentum and gains in phases that exaggerate the pull, as t-SNE has it.

    ``slopes(Z, exaggeration)`` are the gradient. No step of a row is longer than ``longest``; the result is
    centred after every step, and steps and gains go on from phase to phase.

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
        slope = slopes(point, phase.exaggeration)
        with threads(n_jobs if len(point) > _WORTH_THREADS else 1):
            sums = momentum_step(slope, phase.learning_rate, phase.momentum, longest, point, step, gains)
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
