"""Optimisers: from a start and a function of value and gradient to a minimum."""

from .gradient_descent import (
    Adam,
    Minimum,
    Phase,
    averaged_descent,
    batch_epochs,
    momentum_descent,
    phased_descent,
)
from .quasi_newton import ConstrainedMinimum, augmented_lagrangian, lbfgs

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
