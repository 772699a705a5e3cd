"""Value and gradient of each cost that a map can be fitted by."""

from .degree_losses import AllPairs, SameDegree, SampledPairs
from .sampled_losses import (
    FuzzyMoves,
    FuzzyNeighbors,
    PairSteps,
    Triplets,
    TripletSteps,
    mean_edge_cost,
    mean_pair_cost,
)
from .stress_losses import (
    ListedPairs,
    ListedStress,
    MonotoneStress,
    RankImages,
    Stress,
    weight_floor,
    worth_threads,
)
from .student_losses import GaussianNeighbors, GlobalNeighbors, StudentNeighbors, StudentPairs
from .student_sums import Field

__all__ = [
    "AllPairs",
    "SampledPairs",
    "Field",
    "FuzzyMoves",
    "FuzzyNeighbors",
    "GaussianNeighbors",
    "GlobalNeighbors",
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
    "mean_edge_cost",
    "mean_pair_cost",
    "weight_floor",
    "worth_threads",
]
