"""Value and gradient of each cost that a map can be fitted by."""

from .fields import Field
from .same_degree import AllPairs, DrawnPairs, SameDegree
from .student import StudentNeighbors

__all__ = ["AllPairs", "DrawnPairs", "Field", "SameDegree", "StudentNeighbors"]
