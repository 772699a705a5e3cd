"""Tables: built-in sets, files, OpenML and a data folder, made ready to be embedded.

:func:`load` reads a source and turns it into numbers; :func:`catalogue` lists what is at hand.
"""

from __future__ import annotations

from .columns import Column
from .preparation import Preparation
from .sources import Entry, catalogue
from .tables import load

__all__ = ["Column", "Entry", "Preparation", "catalogue", "load"]
