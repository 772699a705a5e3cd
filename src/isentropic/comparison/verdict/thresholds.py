"""Thresholds of the grades, and what makes two maps differ in practice; ``benchmarks/`` measures them.

A map answers two questions, each on the scale that its sentence shows:

- *Which rows are alike*: of the 10 points beside a point, how many are close to it in the data too
  (:func:`isentropic.quality.near_neighbor_share`), on the way from chance to all of them.
- *How far apart things are*: of 100 pairs of distances, how many are in the right order, ``50 (1 + tau)``.

No grade stands for structure: few columns give good maps of noise. Whether the columns of the table are
related at all is tested against shuffled columns, and groups are tested apart.
"""

from __future__ import annotations

from typing import Final, Literal

Level = Literal["good", "fair", "poor", "chance", "unknown"]

NEIGHBORS_GOOD: Final = 0.75  # of the way from chance to all neighbors
NEIGHBORS_FAIR: Final = 0.5
NEIGHBORS_CHANCE: Final = 0.1
DISTANCES_GOOD: Final = 85  # of 100 pairs of distances
DISTANCES_FAIR: Final = 75
DISTANCES_CHANCE: Final = 55

FLOOR: Final = 0.05  # added to what a map loses: less is no reason to prefer it
SAME: Final = 0.4  # maps that differ by less are the same in practice; the simpler one is preferred
EXACT: Final = 0.999  # of the way from chance, on both questions: the map is the table itself, drawn
RELATED: Final = 0.01  # p of the columns: rows lie closer together than in every one of 99 shuffled tables
RELATION: Final = 0.05  # by how much closer
DENSITY: Final = 2.0  # or how many times as dense: below both, the columns are hardly related
ALIKE: Final = 0.8  # of all rows are near every row: distances hardly differ
FEW_ROWS: Final = 31  # below, grades are rough and neighbors are counted with a decimal
DOUBTFUL: Final = 0.6  # of the neighbors near: a row with fewer is doubtful
DOMINANT: Final = 0.5  # of the distance, from at most a third of the columns: worth a sentence
ONE_DIRECTION: Final = 0.8  # of the variance

_ORDER: Final[tuple[Level, ...]] = ("unknown", "chance", "poor", "fair", "good")


def at_least(level: Level, other: Level) -> bool:
    """Whether a grade is as good as another.

    >>> at_least("fair", "fair"), at_least("poor", "fair")
    (True, False)
    """
    return _ORDER.index(level) >= _ORDER.index(other)


def neighbors_level(near: float, chance: float) -> Level:
    """The grade of a share of near neighbors, beside what chance gives.

    >>> neighbors_level(0.9, 0.1), neighbors_level(0.6, 0.1), neighbors_level(0.3, 0.1)
    ('good', 'fair', 'poor')
    >>> neighbors_level(0.96, 0.96)
    'chance'
    """
    if chance >= 1.0 or near <= chance:
        return "chance"
    return _level((near - chance) / (1.0 - chance), NEIGHBORS_GOOD, NEIGHBORS_FAIR, NEIGHBORS_CHANCE)


def distances_level(ordered: float) -> Level:
    """The grade of how many of 100 pairs of distances are in the right order.

    >>> distances_level(90), distances_level(80), distances_level(68), distances_level(50)
    ('good', 'fair', 'poor', 'chance')
    """
    return _level(ordered, DISTANCES_GOOD, DISTANCES_FAIR, DISTANCES_CHANCE)


def _level(value: float, good: float, fair: float, chance: float) -> Level:
    rounded = round(value, 9)  # 0.8 - 0.2 is 0.6000000000000001
    if rounded >= good:
        return "good"
    if rounded >= fair:
        return "fair"
    return "poor" if rounded >= chance else "chance"
