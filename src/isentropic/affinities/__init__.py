"""How much two rows that are near each other belong together."""

from .barycentric import barycentric_weights
from .fuzzy import fitted_curve, fuzzy_graph, memberships
from .heat import checked_heat, heat

__all__ = ["barycentric_weights", "checked_heat", "fitted_curve", "fuzzy_graph", "heat", "memberships"]
