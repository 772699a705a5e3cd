"""How much two rows that are near each other belong together."""

from .adaptive import can_weights, neighbor_graph, pnn_weights
from .barycentric import barycentric_weights
from .fuzzy_affinities import class_intersection, fitted_curve, fuzzy_graph, memberships
from .heat import bridged_heat, bridging_edges, checked_heat, heat, heat_walk, heat_width, step_weights
from .inner_products import InnerProduct
from .perplexity_affinities import checked_perplexity, conditional_affinities, joint_affinities, listed_for

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "InnerProduct",
    "barycentric_weights",
    "can_weights",
    "conditional_affinities",
    "fuzzy_graph",
    "heat",
    "joint_affinities",
    "memberships",
    "neighbor_graph",
    "pnn_weights",
]
