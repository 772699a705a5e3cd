"""Optimisers: from a start and a function of value and gradient to a minimum."""

from .adam import Adam
from .augmented import ConstrainedMinimum, augmented_lagrangian
from .averaged import averaged_descent
from .epochs import batch_epochs
from .lbfgs import lbfgs
from .minimum import Minimum
from .momentum import Phase, momentum_descent, phased_descent

__all__ = [
    "Adam",
    "ConstrainedMinimum",
    "Minimum",
    "Phase",
    "augmented_lagrangian",
    "averaged_descent",
    "batch_epochs",
    "lbfgs",
    "momentum_descent",
    "phased_descent",
]
