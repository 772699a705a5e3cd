"""Parameters chosen by the quality of the map, without labels, with the whole curve kept."""

from .choice import Choice, choose, geometric_grid

__all__ = ["Choice", "choose", "geometric_grid"]
