"""The built-in lines, by the name under which ``_core/state.py`` looks them up."""

from .registry import BUILT_IN

__all__ = ["BUILT_IN"]
