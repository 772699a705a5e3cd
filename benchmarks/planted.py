"""Tables of which the truth is known: sheets, rings, balls and groups, bent into columns, under noise.

A :class:`Planted` table holds what an analyst would see, ``X``, and what is behind it: ``truth``, the places
of its rows, whose Euclidean distances put neighbours in their true order, and ``clean``, the columns before
noise came to them. Where all is noise, ``truth`` has nothing to do with ``X``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NOISES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # c: a column is (1 - c) times truth and c times noise
KINDS = ("plain", "plain", "tails", "levels")  # half of the tables are plain
WIDTHS = (3, 5, 10, 20, 50)
ROWS = {30: 2.0, 60: 2.0, 100: 2.0, 300: 2.0, 1_000: 0.5, 5_000: 0.07}  # tables for each family and noise
_N_LEVELS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """One table and its truth."""

    number: int
    family: str
    dimension: int
    noise: float
    kind: str
    X: np.ndarray  # (n, m) standardised
    truth: np.ndarray  # (n, p)
    clean: np.ndarray  # (n, m), no noise


Shape = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]  # -> truth, columns


def _cube(random, n, d):
    u = random.uniform(-1, 1, size=(n, d))
    return u, u


def _bent_cube(random, n, d):
    """A cube with as many smooth functions of its coordinates beside them."""
    u = random.uniform(-1, 1, size=(n, d))
    waves = np.sin(2.0 * u @ random.normal(size=(d, d)) + random.uniform(0, 2 * np.pi, size=d))
    return u, np.column_stack([u, waves])


def _roll_of(random, t, height):
    """Unrolled, the sheet has the length of the spiral: ``(t sqrt(1 + t^2) + asinh t) / 2``."""
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([length, height]), np.column_stack([t * np.cos(t), t * np.sin(t), height])


def _roll(random, n, d):
    return _roll_of(random, np.pi * random.uniform(1.5, 4.5, n), random.uniform(0, 20, n))


def _roll_with_hole(random, n, d):
    t, height = np.pi * random.uniform(1.5, 4.5, 3 * n), random.uniform(0, 20, 3 * n)
    outside = (np.abs(t / np.pi - 3.0) > 0.5) | (np.abs(height - 10.0) > 4.0)
    return _roll_of(random, t[outside][:n], height[outside][:n])


def _s_curve(random, n, d):
    t, height = 1.5 * np.pi * random.uniform(-1, 1, n), random.uniform(0, 2, n)
    return np.column_stack([t, height]), np.column_stack([np.sin(t), height, np.sign(t) * (np.cos(t) - 1)])


def _sphere(random, n, d):
    """Chords are in the order of arcs."""
    x = random.normal(size=(n, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, x


def _torus(random, n, d):
    """Its truth is the flat one: two angles, each by its circle."""
    a, b = random.uniform(0, 2 * np.pi, size=(2, n))
    flat = np.column_stack([3 * np.cos(a), 3 * np.sin(a), np.cos(b), np.sin(b)])
    wide = 3 + np.cos(b)
    return flat, np.column_stack([wide * np.cos(a), wide * np.sin(a), np.sin(b)])


def _ring(random, n, d):
    a = random.uniform(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(a), np.sin(a)])
    return circle, np.column_stack([circle, 0.4 * np.sin(3 * a)])


def _helix(random, n, d):
    t = random.uniform(0, 4 * np.pi, n)
    return t[:, None], np.column_stack([np.cos(t), np.sin(t), t / 3])


def _groups(random, n, d):
    """Six round groups in d dimensions; within a group, too, rows have places."""
    centres = random.uniform(-4, 4, size=(6, d))
    u = centres[random.integers(6, size=n)] + random.normal(size=(n, d)) * (0.5 if d <= 2 else 0.8)
    return u, u


FAMILIES: dict[str, tuple[Shape, tuple[int, ...]]] = {
    "cube": (_cube, (1, 2, 3, 5, 10)),
    "bent cube": (_bent_cube, (2, 3, 5, 10)),
    "roll": (_roll, (2,)),
    "roll with a hole": (_roll_with_hole, (2,)),
    "s-curve": (_s_curve, (2,)),
    "sphere": (_sphere, (2,)),
    "torus": (_torus, (2,)),
    "ring": (_ring, (1,)),
    "helix": (_helix, (1,)),
    "groups on a line": (_groups, (1,)),
    "groups on a plane": (_groups, (2,)),
    "groups in space": (_groups, (3, 5, 10)),
}

KIN = {  # families that resemble each other choose together, and are judged together
    "cube": "cubes", "bent cube": "cubes",
    "roll": "sheets", "roll with a hole": "sheets", "s-curve": "sheets",
    "sphere": "closed", "torus": "closed", "ring": "closed", "helix": "curves",
    "groups on a line": "groups", "groups on a plane": "groups", "groups in space": "groups",
}  # fmt: skip


def numbered() -> list[tuple[int, str, int, float]]:
    """Number, family, rows and noise of every table, in an order of which any first part is of all kinds."""
    cells = [(family, noise) for family in FAMILIES for noise in NOISES]
    found = []
    for n, repeats in ROWS.items():
        places = np.random.default_rng(n).permutation(len(cells))
        found += [(cells[i][0], n, cells[i][1]) for i in np.resize(places, round(repeats * len(cells)))]
    order = np.random.default_rng(0).permutation(len(found))
    return [(number, *found[place]) for number, place in enumerate(order)]


def planted(number: int, family: str, n: int, noise: float) -> Planted:
    """The table of this number: the same whenever it is asked for."""
    random = np.random.default_rng([number, n])
    shape, dimensions = FAMILIES[family]
    d = int(random.choice(dimensions))
    truth, folded = shape(random, n, d)
    kind = str(random.choice(KINDS))
    m = int(random.choice([width for width in WIDTHS if width >= folded.shape[1]]))
    clean = _unit((folded - folded.mean(axis=0)) @ _loadings(random, folded.shape[1], m))
    rough = random.standard_t(2, size=(n, m)) if kind == "tails" else random.normal(size=(n, m))
    X = (1 - noise) * clean + noise * _unit(rough)
    if kind == "tails":
        X[:, ::2] = np.sinh(2 * _unit(X[:, ::2]))
    X = _unit(X)
    if kind == "levels":
        X = np.column_stack([_as_levels(x) if j % 2 else x for j, x in enumerate(X.T)])
    return Planted(number, family, d, noise, kind, X, truth, clean)


def _loadings(random: np.random.Generator, p: int, m: int) -> np.ndarray:
    """Random directions; a rotation where there are no more columns than coordinates."""
    loadings = random.normal(size=(p, m))
    return np.linalg.qr(loadings)[0] if p == m else loadings


def _unit(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _as_levels(x: np.ndarray) -> np.ndarray:
    """A column cut into levels of equal number: a 0/1 column for each, of variance 1 together."""
    level = np.searchsorted(np.quantile(x, np.arange(1, _N_LEVELS) / _N_LEVELS), x)
    hot = np.eye(_N_LEVELS)[level]
    return (hot - hot.mean(axis=0)) / np.sqrt(hot.var(axis=0).sum())
