"""Affinities and edge weights of near rows."""

from .graph_weights import (
    InnerProduct,
    barycentric_weights,
    bridged_heat,
    bridging_edges,
    can_weights,
    checked_heat,
    heat,
    heat_walk,
    heat_width,
    neighbor_graph,
    pnn_weights,
    step_weights,
)
from .neighbor_affinities import (
    checked_perplexity,
    class_intersection,
    conditional_affinities,
    fitted_curve,
    fuzzy_graph,
    joint_affinities,
    memberships,
    neighbors_for_perplexity,
)

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
