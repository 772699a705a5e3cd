"""Runs as pages for people. Pure: no method is fitted here, no file written, nothing sent.

:func:`page` turns a comparison into one HTML file.
"""

from .rendering import page

__all__ = ["page"]
