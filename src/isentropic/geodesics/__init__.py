"""Shortest paths over a neighbour graph."""

from .paths import all_pairs, from_neighbors, from_rows

__all__ = ["all_pairs", "from_neighbors", "from_rows"]
