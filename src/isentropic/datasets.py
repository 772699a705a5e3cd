"""The public name of :mod:`isentropic.tables`: :func:`load` a table, list what is at hand."""

from .tables import Column, Entry, Preparation, catalogue, load

__all__ = ["Column", "Entry", "Preparation", "catalogue", "load"]
