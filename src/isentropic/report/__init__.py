"""Runs as pages for people. Pure: nothing is fitted, searched or drawn at random here, no file written.

:func:`page` turns a comparison into one HTML file, :func:`tables_page` tables that were run again.
"""

from .experiment_page import tables_page
from .rendering import page

__all__ = ["tables_page", "page"]
