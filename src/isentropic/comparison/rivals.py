"""Which maps are in question, in which order, which of them is the best, and which two can be told apart.

A map is trusted for one of three things: "local", neighbourhoods; "coarse", those of a twentieth of the rows
only; "overall", the order of distances. Each is an attribute of its standing, by which maps are compared,
and the three come in this order: a map that keeps the nearest rows stands before one that keeps coarse
neighbourhoods, whatever their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..quality.map_differences import spread
from .bars import kept_size, score
from .runs import Run
from .standings import Standing

DIGITS = 6  # scores that agree so far are equal: the earlier map is preferred
_ORDER = ("local", "coarse", "overall")


def in_question(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """Those of maps that saw the classes are no rivals where another map is to be trusted."""
    if not any(s.trusted and not s.labels for s in standings):
        return tuple(standings)
    return tuple(replace(s, trusted=s.trusted and not s.labels) for s in standings)


def best_first(standings: Sequence[Standing], shown: int | None = None) -> list[Standing]:
    """All maps, the one that is shown before any other, then in the order of the rule.

    First come the maps in question, by what they are trusted for and how much of it they keep; then those
    that are trusted and saw the classes, in the same order; last those that are not trusted, by how many of
    the nearest rows they keep, rather one that did not see the classes and is better than chance.
    """
    trusted = {s.run for s in in_question(standings) if s.trusted}

    def place(found: Standing) -> tuple[float, ...]:
        what = recommended_for(found) if found.trusted else "local"
        return (
            found.run != shown,
            not found.trusted,
            found.run not in trusted and bool(found.labels),
            found.worthless,
            _ORDER.index(what),
            -round(score_of(found, what), DIGITS),
            found.run,
        )

    return sorted((s for s in standings if s.keeps), key=place)


def best(standings: Sequence[Standing], score: str, rather: int | None = None) -> int | None:
    """Position of the greatest score; of equal ones ``rather``, or the first."""
    order = sorted(standings, key=lambda s: (-round(score_of(s, score), DIGITS), s.run != rather, s.run))
    return order[0].run if order else None


def keeping(standings: Sequence[Standing], what: str) -> list[Standing]:
    """Those of maps that are trusted for ``what``: "local", "coarse" neighbourhoods only, or "overall"."""
    kinds = ("global", "both") if what == "overall" else ("local", "both")
    found = [s for s in standings if s.trusted and s.keeps in kinds]
    return found if what == "overall" else [s for s in found if (s.coarse is None) == (what == "local")]


def recommended_for(found: Standing) -> str:
    """What a map is recommended for."""
    return "overall" if found.keeps == "global" else "local" if found.coarse is None else "coarse"


def settled(runs: Sequence[Run], standings: Sequence[Standing], best_local: int) -> int:
    """Of the maps that keep as many near neighbours as the best, as far as can be told, the best of all."""
    what = recommended_for(standings[best_local])
    tied = [
        s.run
        for s in keeping(standings, what)
        if s.run == best_local or told_apart(runs[best_local], runs[s.run], what) is False
    ]
    return max(tied, key=lambda i: (round(value_of(runs[i], "rnx_auc"), DIGITS), i == best_local, -i))


def told_apart(one: Run, other: Run, by: str) -> bool | None:
    """Whether the difference is beyond what other rows would give; None where that was not measured."""
    name = measure_of(one, by)
    first, second = one.without.get(name), other.without.get(name)
    if not first or not second or len(first) != len(second):
        return None
    difference = value_of(one, name) - value_of(other, name)
    return difference > spread(np.subtract(first, second))


def measure_of(run: Run, by: str) -> str:
    """The measure that decides among maps, by its name; of coarse neighbourhoods it is one of the curve."""
    assert run.quality is not None
    k = kept_size(run.quality) if by == "coarse" else run.quality.n_neighbors[0]
    return "kendall_tau" if by == "overall" else f"r_nx({k})"


def value_of(run: Run, name: str) -> float:
    """A measure of a map, 0 where it is not defined."""
    return score(run, name) or 0.0


def score_of(found: Standing, by: str) -> float:
    """What a map keeps of one of the three, 0 where that is not defined."""
    value: float | None = getattr(found, by)
    return 0.0 if value is None else value
