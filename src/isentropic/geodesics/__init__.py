"""Shortest paths over a neighbour graph, and the boundary of the surface that it covers."""

from .boundaries import boundary_rows
from .growing import GrowingPaths, grown_rows
from .nearest import nearest_by_entries, nearest_in_graph
from .paths import all_pairs, from_neighbors, from_rows
from .sequences import PairSequence

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "all_pairs",
    "boundary_rows",
    "from_neighbors",
    "from_rows",
    "nearest_in_graph",
]
