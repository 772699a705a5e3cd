"""How unlike two rows are once their classes count too, and what is guessed of rows without a class."""

from .classes import (
    ClassGaussians,
    WideGaussians,
    class_aware_distances,
    class_gaussians,
    expected_between,
    expected_shares,
    mean_between,
    mean_square,
    posterior,
    votes,
)
from .lists import ClassIndex, DirectedIndex
from .measures import (
    CHOICES,
    Added,
    ClassDistance,
    Directed,
    Exponential,
    Shrunk,
    checked_dissimilarity,
    checked_scale,
    directed_distances,
    fitted_column,
    fitted_dissimilarity,
    same_class,
)
from .spreads import largest_distance, mean_squared_distance

__all__ = [
    "Added",
    "CHOICES",
    "ClassDistance",
    "ClassGaussians",
    "ClassIndex",
    "Directed",
    "DirectedIndex",
    "Exponential",
    "Shrunk",
    "WideGaussians",
    "checked_dissimilarity",
    "checked_scale",
    "class_aware_distances",
    "class_gaussians",
    "directed_distances",
    "expected_between",
    "expected_shares",
    "fitted_column",
    "fitted_dissimilarity",
    "largest_distance",
    "mean_between",
    "mean_square",
    "mean_squared_distance",
    "posterior",
    "same_class",
    "votes",
]
