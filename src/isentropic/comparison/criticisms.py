"""The worst that can be said of a map, in plain words, with the rows that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .runs import Run

_HALF = 0.5  # of the nearest neighbours false: a row is misplaced
_FAR = 0.1  # of all rows between a row and its neighbours: they are not near


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence; the rows of the table that it is about, none if about all; how bad it is, 0 to 1."""

    text: str
    rows: tuple[int, ...] = ()
    severity: float = 0.0
    kind: str = ""  # "false", "strangers" or "torn" where it is about rows: what they suffer from


def worst_facts(run: Run, count: int = 2) -> tuple[Fact, ...]:
    """The ``count`` worst, worst first; nothing of a run that failed, and nothing that is not bad at all.

    Of the two about strangers in the neighbourhood only the worse one is told: the other says it again.
    """
    if run.failed or run.quality is None:
        return ()
    facts = sorted((fact for fact in _facts(run) if fact.severity > 0), key=lambda fact: -fact.severity)
    again = [fact for fact in facts if fact.kind in ("false", "strangers")][1:]
    return tuple([fact for fact in facts if not any(fact is other for other in again)][:count])


def _facts(run: Run) -> Iterator[Fact]:
    quality = run.quality
    assert quality is not None
    k, n = quality.n_neighbors[0], quality.n
    nearest = f"{k} nearest" if k > 1 else "nearest"
    estimated = "" if quality.exact else "about "
    if run.false_share is not None:
        yield _about_rows(
            run,
            "false",
            run.false_share > _HALF,
            f"{estimated}{{share}} of points have more than half of their {nearest} map neighbours false.",
        )
    # a row's score times this is the mean number of rows between it and its neighbours on the other side
    most = (2 * n - 3 * k - 1) / 2
    away = f"on average behind more than {_FAR:.0%} of all rows"
    yield _about_rows(
        run,
        "torn",
        quality.tears[:, 0] * most > _FAR * n,
        f"{estimated}{{share}} of points are torn from their {nearest} neighbours in the data, which lie "
        f"{away} in the map.",
    )
    yield _about_rows(
        run,
        "strangers",
        quality.false_neighbors[:, 0] * most > _FAR * n,
        f"{estimated}{{share}} of points stand among strangers: their {nearest} map neighbours lie "
        f"{away} in the data.",
    )
    if "kendall_tau" in quality.measures:
        wrong = (1.0 - quality.measures["kendall_tau"].value) / 2
        yield Fact(
            f"Of pairs of distances between points, the map puts {_percent(wrong)} in the wrong order "
            "(50% is chance).",
            severity=min(1.0, max(0.0, 2 * wrong)),
        )
    yield from _about_places(run)
    yield from _about_seeds(run)


def _about_rows(run: Run, kind: str, bad: npt.NDArray[np.bool_], text: str) -> Fact:
    assert run.quality is not None
    share = float(np.mean(bad))
    rows = tuple(int(row) for row in run.quality.rows[bad])
    sentence = text.format(share=_percent(share))
    return Fact(sentence[:1].upper() + sentence[1:], rows, share, kind)


def _percent(share: float) -> str:
    """
    >>> _percent(0.0), _percent(0.004), _percent(0.124), _percent(0.998), _percent(1.0)
    ('0%', 'less than 1%', '12%', 'more than 99%', '100%')
    """
    if 0 < share < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"


def _about_places(run: Run) -> Iterator[Fact]:
    """How many rows stand where any other place would suit them as well."""
    if run.row_trust is not None and run.row_trust.by_chance > 0:
        share = run.row_trust.by_chance
        text = f"{'about ' if 0.01 <= share <= 0.99 else ''}{_percent(share)} of points are placed no better "
        yield Fact(f"{text[:1].upper()}{text[1:]}than by chance.", severity=share)


def _about_seeds(run: Run) -> Iterator[Fact]:
    """How far another seed moves the area under R_NX, of all sizes."""
    assert run.quality is not None
    areas = [repeat["rnx_auc"] for repeat in run.repeats if "rnx_auc" in repeat]
    if areas:
        values = [run.quality.measures["rnx_auc"].value, *areas]
        spread = round(max(values) - min(values), 2)
        yield Fact(
            f"Another seed gives another map: the area under R_NX varies by {spread:.2f} over "
            f"{len(values)} seeds.",
            severity=min(1.0, spread),
        )
