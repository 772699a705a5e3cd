"""How much two rows that are near each other belong together."""

from .heat import checked_heat, heat

__all__ = ["checked_heat", "heat"]
