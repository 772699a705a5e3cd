"""Adam: stochastic descent whose steps are in units of the recent slopes of each parameter."""

from __future__ import annotations

import numpy as np

from ..kernels.networks.adam import adam_step

_MEAN, _SQUARE = 0.9, 0.999  # what a step leaves of the mean of the slopes, and of that of their squares
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
        self._factors = tuple(kind(x) for x in (_MEAN, _SQUARE, 1 - _MEAN, 1 - _SQUARE))

    def step(self, slopes: np.ndarray) -> None:
        """One step down these slopes. ``O(size)``."""
        self.steps += 1
        # The first means are of few slopes and zero: divided by the share that is not zero.
        unbiased = np.sqrt(1 - _SQUARE**self.steps)
        rate, least = self.rate * unbiased / (1 - _MEAN**self.steps), _LEAST * unbiased
        kind = self.vector.dtype.type
        adam_step(self.vector, slopes, self.means, self.squares, kind(rate), *self._factors, kind(least))
