"""How much two rows that are near each other belong together."""

from .barycentric import barycentric_weights
from .heat import checked_heat, heat
from .inner_products import InnerProduct

__all__ = ["InnerProduct", "barycentric_weights", "checked_heat", "heat"]
