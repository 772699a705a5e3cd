"""Polyak-Ruppert averaging: stochastic descent with a decreasing step, and the mean of its later points."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .minimum import Objective

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
