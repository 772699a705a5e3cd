"""Value and gradient of each cost that a map can be fitted by."""

from .controlled_pairs import PairSteps, mean_pair_cost
from .fields import Field
from .fuzzy import FuzzyMoves, FuzzyNeighbors, mean_edge_cost
from .gaussian import GaussianNeighbors
from .listed_stress import ListedPairs, ListedStress
from .monotone_stress import MonotoneStress
from .rank_images import RankImages
from .same_degree import AllPairs, DrawnPairs, SameDegree
from .stress import Stress, weight_floor, worth_threads
from .student import StudentNeighbors
from .student_pairs import StudentPairs
from .triplets import Triplets, TripletSteps
from .unfolding import Unfolding

__all__ = [
    "AllPairs",
    "DrawnPairs",
    "Field",
    "FuzzyMoves",
    "FuzzyNeighbors",
    "GaussianNeighbors",
    "ListedPairs",
    "ListedStress",
    "MonotoneStress",
    "PairSteps",
    "RankImages",
    "SameDegree",
    "Stress",
    "StudentNeighbors",
    "StudentPairs",
    "TripletSteps",
    "Triplets",
    "Unfolding",
    "mean_edge_cost",
    "mean_pair_cost",
    "weight_floor",
    "worth_threads",
]
