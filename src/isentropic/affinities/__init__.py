"""How much two rows that are near each other belong together."""

from .adaptive import can_weights, neighbor_graph, pnn_weights
from .barycentric import barycentric_weights
from .heat import checked_heat, heat

__all__ = ["barycentric_weights", "can_weights", "checked_heat", "heat", "neighbor_graph", "pnn_weights"]
