"""Parameter selection by the quality of the map, without labels."""

from .parameter_search import CRITERIA, Criterion, Selection, Trial, as_grid, geometric, neighbor_grid, select

__all__ = [
    "CRITERIA",
    "Criterion",
    "Selection",
    "Trial",
    "as_grid",
    "geometric",
    "neighbor_grid",
    "select",
]
