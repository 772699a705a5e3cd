"""Arrays as compact text: quantized, little-endian, base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

FINE = 65_535  # steps of a coordinate: a tenth of a pixel on a map of 6,500 pixels
COARSE = 254  # steps of a colour; 255 stands for "not known"
UNKNOWN = 255


def pack(values: Any, kind: str) -> str:
    """``values`` as base64 of the little-endian type ``kind``, such as ``"u2"``."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode("ascii")


def pack_points(points: np.ndarray) -> dict[str, Any]:
    """Coordinates (n, 2) in one scale for both directions, from 0 to 1 along the wider one.

    One scale, because distances in a map are meant to be compared in every direction.
    """
    low = points.min(axis=0)
    width = points.max(axis=0) - low
    scale = float(width.max()) or 1.0
    steps = np.rint((points - low) / scale * FINE)
    return {
        "points": pack(steps, "u2"),
        "width": float(width[0] / scale),
        "height": float(width[1] / scale),
    }


def pack_shares(values: np.ndarray, low: float = 0.0, high: float = 1.0) -> str:
    """Numbers from ``low`` to ``high`` as one byte each; NaN is unknown."""
    known = np.isfinite(values)
    span = (high - low) or 1.0
    steps = np.clip(np.rint((np.where(known, values, low) - low) / span * COARSE), 0, COARSE)
    return pack(np.where(known, steps, UNKNOWN), "u1")


def round_numbers(values: Any, digits: int = 5) -> list[float | None]:
    """Numbers as JSON, without digits that nobody can see; what is not finite is None."""
    return [
        float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, float)
    ]
