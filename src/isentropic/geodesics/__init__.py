"""Shortest paths over a neighbour graph, and the boundary of the surface that it covers."""

from .boundaries import boundary_rows
from .paths import all_pairs, from_neighbors, from_rows

__all__ = ["all_pairs", "boundary_rows", "from_neighbors", "from_rows"]
