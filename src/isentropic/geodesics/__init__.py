"""Shortest paths over a neighbour graph."""

from .nearest import nearest_by_entries, nearest_in_graph
from .paths import all_pairs, from_neighbors, from_rows

__all__ = ["all_pairs", "from_neighbors", "from_rows", "nearest_by_entries", "nearest_in_graph"]
