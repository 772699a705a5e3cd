"""Shortest paths over a neighbour graph, and the boundary of the surface that it covers."""

from .boundaries import boundary_rows
from .growing import GrowingPaths, grown_rows
from .nearest import nearest_by_entries, nearest_in_graph
from .paths import all_pairs, from_neighbors, from_rows
from .sequences import PairSequence

__all__ = [
    "GrowingPaths", "PairSequence", "all_pairs", "boundary_rows", "from_neighbors", "from_rows", "grown_rows",
    "nearest_by_entries", "nearest_in_graph",
]  # fmt: skip
