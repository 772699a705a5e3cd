"""Optimisers: from a start and a function of value and gradient to a minimum."""

from .lbfgs import lbfgs
from .minimum import Minimum
from .momentum import momentum_descent

__all__ = ["Minimum", "lbfgs", "momentum_descent"]
