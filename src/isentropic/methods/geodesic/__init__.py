"""Shortest paths in a neighbor graph, scaled: ISOMAP kinds."""
