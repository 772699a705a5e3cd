"""Runs as pages for people. Pure: nothing is fitted, searched or drawn at random here, no file written.

:func:`page` turns a comparison into one HTML file.
"""

from .rendering import page

__all__ = ["page"]
