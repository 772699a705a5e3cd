"""Gradient descent with momentum and gains, as the publications of t-SNE and SDD have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._core.runtime import row_blocks
from ..kernels._jit import threads
from ..kernels.layouts.neighbor_forces import momentum_step
from .minimum import Minimum, Objective

_WORTH_THREADS = 10_000  # rows: below that, waking threads costs more than a step
_MORE, _LESS, _LEAST = 0.2, 0.8, 0.01  # a gain grows by the first, shrinks by the second, and has a floor


def momentum_descent(
    objective: Objective, start: np.ndarray, *, max_iter: int, learning_rate: float, momentum: float
) -> Minimum:
    """``step = momentum step - rate gain gradient``, the result centred after every step.

    The gain of a coordinate grows while its gradient and its last step point opposite ways, and shrinks
    otherwise. For reproduction: :func:`~isentropic.optim.lbfgs` takes a small part of the steps.

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
        gains = np.maximum(np.where(agree, gains * _LESS, gains + _MORE), _LEAST)
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
