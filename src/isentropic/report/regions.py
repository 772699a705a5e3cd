"""Where in a map the damaged rows crowd: a region with an outline that can be drawn and counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter, label

from .._values import Floats

_CELLS = 72  # along the wider side
_BLUR = 2.4  # cells
_MARGIN = 6  # empty cells around the map, so that every outline closes
_ABOVE = 2.0  # a place belongs to the region where damage is that many times as frequent as overall,
_CERTAIN = 0.5  # or where every second row has it
_FEWEST = 3  # damaged rows that make a patch of the region rather than stray points,
_LEAST_SHARE = 0.08  # and which share of all of them
_PAPER = 0.3  # of the usual density around a row: thinner than this, a place is empty paper


@dataclass(frozen=True, slots=True)
class Region:
    """Segments (s, 4) of the outline as x1, y1, x2, y2, and how many rows lie inside."""

    outline: Floats
    inside: int
    damaged_inside: int
    damaged: int


def damaged_region(points: Floats, damaged: np.ndarray) -> Region:
    """The places where damaged rows are at least twice as frequent as elsewhere, or one in two.

    Both kinds of rows are counted on a grid and blurred; the region holds the cells whose ratio passes. Patches
    with few of the damaged rows (less than 8%, or three) are dropped. ``O(n)``.
    """
    low = points.min(axis=0)
    cell = float((points.max(axis=0) - low).max()) / _CELLS or 1.0
    at = np.floor((points - low) / cell).astype(int) + _MARGIN
    shape = tuple(at.max(axis=0) + _MARGIN + 1)
    counts = [_counted(at[rows], shape) for rows in (np.ones(len(points), bool), damaged)]
    every, wrong = (gaussian_filter(count, _BLUR, mode="constant") for count in counts)
    share = damaged.mean() if len(damaged) else 0.0
    passing = min(_CERTAIN, _ABOVE * share) if share > 0 else _CERTAIN
    # Positive inside: the contour at 0 is the outline.
    empty = _PAPER * np.median(every[tuple(at.T)])
    surplus = np.minimum(wrong - passing * every, passing * (every - empty))
    patches, n_patches = label(surplus > 0)
    crowd = np.bincount(patches[tuple(at[damaged].T)], minlength=n_patches + 1)
    for patch in np.flatnonzero(crowd < max(_FEWEST, _LEAST_SHARE * damaged.sum())):
        if patch:
            surplus[patches == patch] = -1e-9
            patches[patches == patch] = 0
    inside = patches[tuple(at.T)] > 0
    outline = _contour(surplus) + 0.5 - _MARGIN
    return Region(
        outline * cell + np.tile(low, 2), int(inside.sum()), int((inside & damaged).sum()), int(damaged.sum())
    )


def _counted(at: np.ndarray, shape: tuple[int, ...]) -> Floats:
    counts = np.zeros(shape)
    np.add.at(counts, tuple(at.T), 1.0)
    return counts


def _contour(field: Floats) -> Floats:
    """Segments of the line where ``field`` is 0, by marching triangles: each cell is cut along a diagonal."""
    i, j = (part.ravel() for part in np.indices((field.shape[0] - 1, field.shape[1] - 1)))
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    found = []
    for triangle in ((0, 1, 2), (0, 2, 3)):
        values = np.array([field[corners[c]] for c in triangle])
        places = np.array([np.column_stack(corners[c]) for c in triangle], float)
        inside = values > 0
        for apex in range(3):  # the corner that is alone on its side of the line
            one, two = (apex + 1) % 3, (apex + 2) % 3
            cut = (inside[one] == inside[two]) & (inside[apex] != inside[one])
            ends = []
            for other in (one, two):
                t = values[apex, cut] / (values[apex, cut] - values[other, cut])
                ends.append(places[apex, cut] + t[:, None] * (places[other, cut] - places[apex, cut]))
            found.append(np.hstack(ends))
    return np.concatenate(found)
