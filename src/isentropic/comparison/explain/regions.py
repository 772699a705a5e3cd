"""Regions of a map where damaged rows are dense, with an outline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter, label

from ..._core.values import Floats

_CELLS = 72  # along the wider side
_BLUR = 2.4  # cells
_MARGIN = 6  # empty cells around the map, so that every outline closes
_ABOVE = 2.0  # times as frequent as in the whole map,
_CERTAIN = 0.5  # or every second row
_FEWEST = 3  # damaged rows that make a patch of the region rather than stray points,
_LEAST_SHARE = 0.08  # and which share of all of them
_SHUFFLES = 19  # random choices of as many rows: what gathers no more is chance, at the level of 5%
_GATHERED = 0.25  # share of the damaged rows that a region must hold to be worth an outline
_PAPER = 0.3  # of the usual density around a row: thinner than this, a place is empty paper


@dataclass(frozen=True, slots=True)
class Region:
    """Segments (s, 4) of the outline as x1, y1, x2, y2, and how many rows lie inside."""

    outline: Floats
    inside: int
    damaged_inside: int
    damaged: int


def damaged_region(points: Floats, damaged: np.ndarray) -> Region:
    """The region where damaged rows are dense; empty where they are scattered as by chance.

    Rows are counted on a grid and blurred. A place belongs to the region where the share of damaged rows is
    twice that of the whole map (or one half), and half of what is usual around a damaged row. Patches with
    few of the damaged rows (less than 8%, or three) are dropped. The region counts only if it gathers more
    of them than of any of 19 random choices of as many rows, and a quarter of them at least. ``O(n)``.
    """
    low = points.min(axis=0)
    cell = float((points.max(axis=0) - low).max()) / _CELLS or 1.0
    at = np.floor((points - low) / cell).astype(int) + _MARGIN
    every = _density(at, tuple(at.max(axis=0) + _MARGIN + 1))
    surplus, inside = _crowded_region(at, every, damaged)
    gathered = int((inside & damaged).sum())
    random = np.random.default_rng(0)
    by_chance = 0
    for _ in range(_SHUFFLES if gathered < damaged.sum() < len(damaged) else 0):
        flags = random.permutation(damaged)
        by_chance = max(by_chance, int((_crowded_region(at, every, flags)[1] & flags).sum()))
    if gathered <= max(by_chance, _GATHERED * damaged.sum()):
        return Region(np.empty((0, 4)), 0, 0, int(damaged.sum()))
    outline = (_contour(surplus) + 0.5 - _MARGIN) * cell + np.tile(low, 2)
    return Region(outline, int(inside.sum()), gathered, int(damaged.sum()))


def _density(at: np.ndarray, shape: tuple[int, ...]) -> Floats:
    counts = np.bincount(np.ravel_multi_index(tuple(at.T), shape), minlength=shape[0] * shape[1])
    return gaussian_filter(counts.reshape(shape).astype(float), _BLUR, mode="constant")


def _crowded_region(at: np.ndarray, every: Floats, damaged: np.ndarray) -> tuple[Floats, np.ndarray]:
    """A field that is positive in the region, so that its contour at 0 is the outline; the rows inside."""
    wrong = _density(at[damaged], every.shape)
    places, here = tuple(at.T), tuple(at[damaged].T)
    usual = np.median(wrong[here] / every[here]) if damaged.any() else 1.0
    passing = max(min(_CERTAIN, _ABOVE * damaged.mean()), usual / 2)
    empty = _PAPER * np.median(every[places])
    surplus = np.minimum(wrong - passing * every, passing * (every - empty))
    patches, n_patches = label(surplus > 0)
    crowd = np.bincount(patches[here], minlength=n_patches + 1)
    dropped = crowd < max(_FEWEST, _LEAST_SHARE * damaged.sum())
    dropped[0] = False
    surplus[dropped[patches]] = -1e-9
    patches[dropped[patches]] = 0
    return surplus, patches[places] > 0


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
