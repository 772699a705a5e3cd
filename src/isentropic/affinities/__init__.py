"""How much two rows that are near each other belong together."""

from .adaptive import can_weights, neighbor_graph, pnn_weights
from .barycentric import barycentric_weights
from .heat import checked_heat, heat
from .perplexity import checked_perplexity, conditional_affinities, joint_affinities, listed_for

__all__ = [
    "barycentric_weights",
    "can_weights",
    "checked_heat",
    "checked_perplexity",
    "conditional_affinities",
    "heat",
    "joint_affinities",
    "listed_for",
    "neighbor_graph",
    "pnn_weights",
]
