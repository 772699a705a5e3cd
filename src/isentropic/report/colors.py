"""Colours of the page, for light and for dark paper: classes, numbers and damage.

Classes have the eight colours of Okabe and Ito (2008), which stay apart for colour-blind readers: at least
15 units of CIELAB also under simulated deuteranopia, protanopia and tritanopia. Only the neutral one changes
with the paper. After eight classes the colours come again in another shape. Numbers have viridis without
the end that the paper would hide, damage one hue from the paper to vermilion.
"""

from __future__ import annotations

from typing import Any

from ..comparison.presentation import CLASS_COLORS

CLASSES = {"light": CLASS_COLORS, "dark": (*CLASS_COLORS[:6], "#D9D9D9", CLASS_COLORS[7])}
SHAPES = ("disc", "ring", "cross", "square")
MOST_CLASSES = len(SHAPES) * len(CLASSES["light"])  # the smallest of more are drawn as one

NUMBERS = {
    "light": ("#440154", "#46327E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#9FDA3A", "#D8E219"),
    "dark": ("#7257B5", "#5D6FC0", "#4A8CC0", "#2FA3A8", "#35B779", "#6DCD59", "#B4DE2C", "#FDE725"),
}
DAMAGE = {
    "light": ("#DEDCD6", "#EDBE9B", "#DD7A3C", "#B23A0C", "#5E1A02"),
    "dark": ("#3B3D42", "#6B3F2A", "#B5541F", "#F58A4B", "#FFDCC2"),
}


def palette() -> dict[str, Any]:
    """All of them, as the page reads them."""
    return {"classes": CLASSES, "shapes": SHAPES, "numbers": NUMBERS, "damage": DAMAGE}
