"""Colours that stay apart for colour-blind readers and in print.

Classes use the colours of Okabe and Ito (2008), a violet and a brown; after ten classes the same
colours come again with another marker. Numbers use cividis.
"""

from __future__ import annotations

COLORS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
    "#D55E00", "#4D4D4D", "#F0E442", "#7B2FD0", "#6B2D0B",
)  # fmt: skip
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
