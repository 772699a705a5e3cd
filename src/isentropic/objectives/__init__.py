"""Value and gradient of each cost that a map can be fitted by."""

from .fuzzy import FuzzyMoves
from .same_degree import AllPairs, DrawnPairs, SameDegree

__all__ = ["AllPairs", "DrawnPairs", "FuzzyMoves", "SameDegree"]
