"""Where everything stands in a critical-difference diagram, whoever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .statistics import cliques


@dataclass(frozen=True, slots=True)
class RankMark:
    """One method: its place on the axis from 0 to 1, and the row of its name, on the left or on the right."""

    name: str
    rank: float
    place: float
    left: bool
    row: int


@dataclass(frozen=True, slots=True)
class RankLayout:
    """An axis of ranks, names below it, bars that join what does not differ, in shares of the axis."""

    marks: tuple[RankMark, ...]  # best first
    bars: tuple[tuple[float, float], ...]  # from and to, each on a level of its own
    ticks: tuple[tuple[int, float], ...]
    difference: float
    n_rows: int


def rank_layout(methods: Sequence[str], average_ranks: Sequence[float], difference: float) -> RankLayout:
    """Lay out a critical-difference diagram (Demšar): rank 1 on the left, better names on the left side.

    >>> layout = rank_layout(("a", "b", "c"), (1.2, 2.9, 1.9), 1.0)
    >>> [(mark.name, mark.left, mark.row) for mark in layout.marks]
    [('a', True, 0), ('c', True, 1), ('b', False, 0)]
    >>> [tuple(round(end, 2) for end in bar) for bar in layout.bars]
    [(0.1, 0.45), (0.45, 0.95)]
    """
    k = len(methods)
    span = max(k - 1, 1)
    order = sorted(range(k), key=lambda i: (average_ranks[i], i))
    n_left = (k + 1) // 2
    marks = tuple(
        RankMark(
            methods[i],
            average_ranks[i],
            (average_ranks[i] - 1) / span,
            at < n_left,
            at if at < n_left else k - 1 - at,
        )
        for at, i in enumerate(order)
    )
    places = {i: (average_ranks[i] - 1) / span for i in order}
    bars = tuple((places[group[0]], places[group[-1]]) for group in cliques(average_ranks, difference))
    step = max(1, k // 12)
    ticks = tuple((rank, (rank - 1) / span) for rank in range(1, k + 1, step))
    return RankLayout(marks, bars, ticks, difference / span, n_left)
