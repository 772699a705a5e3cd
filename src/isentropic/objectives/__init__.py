"""Value and gradient of each cost that a map can be fitted by."""

from .controlled_pairs import PairSteps
from .fuzzy import FuzzyMoves
from .same_degree import AllPairs, DrawnPairs, SameDegree
from .triplets import Triplets, TripletSteps

__all__ = ["AllPairs", "DrawnPairs", "FuzzyMoves", "PairSteps", "SameDegree", "TripletSteps", "Triplets"]
