"""What an optimiser is given and what it hands back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # an array to its value and gradient


@dataclass(frozen=True, slots=True)
class Minimum:
    """The best point found, its value, the steps taken, and whether the tolerance was met."""

    point: np.ndarray
    value: float
    n_iter: int
    converged: bool
