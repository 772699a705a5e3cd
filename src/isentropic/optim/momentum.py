"""Gradient descent with momentum and gains, as the publications of t-SNE and SDD have it."""

from __future__ import annotations

import numpy as np

from .._runtime import row_blocks
from .minimum import Minimum, Objective

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
