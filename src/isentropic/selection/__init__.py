"""Parameters chosen by the quality of the map, without labels."""

from .choosing import select
from .criteria import CRITERIA, Criterion
from .grids import as_grid, geometric, neighbor_grid
from .values import Selection, Trial

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
