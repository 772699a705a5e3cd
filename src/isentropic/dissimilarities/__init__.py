"""How unlike two rows are once their classes count too, and what is guessed of rows without a class."""

from .classes import (
    ClassGaussians,
    class_aware_distances,
    class_gaussians,
    expected_between,
    mean_between,
    mean_square,
    posterior,
    votes,
)

__all__ = [
    "ClassGaussians",
    "class_aware_distances",
    "class_gaussians",
    "expected_between",
    "mean_between",
    "mean_square",
    "posterior",
    "votes",
]
