"""Shortest paths over a neighbour graph, and the boundary of the surface that it covers."""

from .growing_graph import GrowingPaths, PairSequence, grown_rows
from .shortest_paths import (
    all_pairs,
    boundary_rows,
    from_neighbors,
    from_rows,
    nearest_by_entries,
    nearest_in_graph,
)

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "all_pairs",
    "boundary_rows",
    "from_neighbors",
    "from_rows",
    "nearest_in_graph",
]
