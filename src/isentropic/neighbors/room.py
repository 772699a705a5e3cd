"""Whether a graph fits the memory."""

from __future__ import annotations

from .._runtime import require_memory

_EDGE_BYTES = 60  # of a directed edge, from the lists to the symmetric graph

SPARSER = "Take a smaller radius or percentile, or a number of neighbours."


def require_room(n_edges: int, alternative: str = SPARSER) -> None:
    """Refuse a graph of about so many directed edges that it does not fit the memory budget."""
    require_memory(_EDGE_BYTES * n_edges, f"A graph of about {n_edges:,} directed edges", alternative)
