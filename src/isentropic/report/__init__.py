"""Reports as HTML pages. Nothing is fitted, searched or sampled here, and no file is written.

:func:`page` turns a comparison into one HTML file, :func:`tables_page` tables that were run again.
"""

from .experiment_page import tables_page
from .rendering import page

__all__ = ["tables_page", "page"]
