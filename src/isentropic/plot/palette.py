"""Colours that stay apart for colour-blind readers and in print.

Classes use the colours of Okabe and Ito (2008), a violet and a brown; after ten classes the same
colours come again with another marker. Numbers use cividis.
"""

from __future__ import annotations

from ..comparison.presentation import CLASS_COLORS

COLORS = (*CLASS_COLORS, "#7B2FD0", "#6B2D0B")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
CONTINUOUS = "cividis"
INK = "#333333"
FAINT = "#9A9A9A"
PALE = "#D8D8D8"
PLAIN = COLORS[0]


def color(code: int) -> str:
    """The colour of class number ``code``."""
    return COLORS[code % len(COLORS)]


def marker(code: int) -> str:
    """The marker of class number ``code``: it changes when the colours begin again."""
    return MARKERS[code // len(COLORS) % len(MARKERS)]
