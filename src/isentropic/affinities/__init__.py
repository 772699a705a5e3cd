"""How much two rows that are near each other belong together."""

from .adaptive import can_weights, neighbor_graph, pnn_weights
from .barycentric import barycentric_weights
from .fuzzy import class_intersection, fitted_curve, fuzzy_graph, memberships
from .heat import bridged_heat, bridging_edges, checked_heat, heat, heat_walk, heat_width, step_weights
from .inner_products import InnerProduct
from .perplexity import checked_perplexity, conditional_affinities, joint_affinities, listed_for

__all__ = [
    "InnerProduct",
    "barycentric_weights",
    "bridged_heat",
    "bridging_edges",
    "can_weights",
    "checked_heat",
    "checked_perplexity",
    "class_intersection",
    "conditional_affinities",
    "fitted_curve",
    "fuzzy_graph",
    "heat",
    "heat_walk",
    "heat_width",
    "joint_affinities",
    "listed_for",
    "memberships",
    "neighbor_graph",
    "pnn_weights",
    "step_weights",
]
