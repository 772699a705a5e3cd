"""Value and gradient of each cost that a map can be fitted by."""

from .controlled_pairs import PairSteps, mean_pair_cost
from .fields import Field
from .fuzzy import FuzzyMoves, mean_edge_cost
from .gaussian import GaussianNeighbors
from .same_degree import AllPairs, DrawnPairs, SameDegree
from .student import StudentNeighbors
from .student_pairs import StudentPairs
from .triplets import Triplets, TripletSteps
from .unfolding import Unfolding

__all__ = [
    "AllPairs",
    "DrawnPairs",
    "Field",
    "FuzzyMoves",
    "GaussianNeighbors",
    "PairSteps",
    "SameDegree",
    "StudentNeighbors",
    "StudentPairs",
    "TripletSteps",
    "Triplets",
    "Unfolding",
    "mean_edge_cost",
    "mean_pair_cost",
]
