"""Shortest paths over a neighbour graph, and the boundary of the surface that it covers."""

from .boundaries import boundary_rows
from .growing_graph import GrowingPaths, grown_rows
from .nearest_rows import nearest_by_entries, nearest_in_graph
from .sequences import PairSequence
from .shortest_paths import all_pairs, from_neighbors, from_rows

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "all_pairs",
    "boundary_rows",
    "from_neighbors",
    "from_rows",
    "nearest_in_graph",
]
