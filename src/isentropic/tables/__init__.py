"""Tables: built-in sets, files, OpenML and a data folder, made ready to be embedded.

:func:`load` reads a source and turns it into numbers; :func:`catalogue` lists what is at hand.
"""

from __future__ import annotations

from .loading import load
from .prepare.columns import Column
from .prepare.preparation import Preparation
from .table_sources import Entry, catalogue

__all__ = ["Column", "Entry", "Preparation", "catalogue", "load"]
