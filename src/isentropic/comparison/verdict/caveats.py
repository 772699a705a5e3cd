"""Caveats of one map: at most three sentences, the worst first, with the rows they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..evaluation.runs import Run
from . import text
from .answers import GroupAnswer
from .grades import near_chance, near_name
from .thresholds import DOUBTFUL, FEW_ROWS

MOST = 3
_FAR = 0.1  # of all rows between a row and its neighbors: they are not near
_FEWEST = 0.02  # share of the rows that is worth a sentence
_SEEDS_DIFFER = 1.0  # near neighbors of ten that another seed takes or gives
_MADE_BY = 0.6  # how bad it is that few columns make a group


@dataclass(frozen=True, slots=True)
class Caveat:
    """A sentence; the rows of the table that it is about, none if about all; how bad it is, 0 to 1."""

    text: str
    rows: tuple[int, ...] = ()
    severity: float = 0.0
    kind: str = ""  # "doubtful" or "torn" where it is about rows; else "seeds", "few rows" or "made by"


def caveats(run: Run) -> tuple[Caveat, ...]:
    """The worst caveats of a map; none for a run that failed."""
    return () if run.failed or run.quality is None else _worst(_find(run))


def with_groups(found: Iterable[Caveat], groups: GroupAnswer) -> tuple[Caveat, ...]:
    """The worst of these caveats and of those about groups."""
    made = [
        Caveat(text.made_by(names, columns), severity=_MADE_BY, kind="made by")
        for columns, names in groups.made_by
    ]
    return _worst([*(caveat for caveat in found if caveat.kind != "made by"), *made])


def _worst(found: Iterable[Caveat]) -> tuple[Caveat, ...]:
    return tuple(sorted(found, key=lambda caveat: -caveat.severity)[:MOST])


def _find(run: Run) -> Iterator[Caveat]:
    quality = run.quality
    assert quality is not None
    k, n = quality.n_neighbors[0], quality.n
    if n < FEW_ROWS:
        yield Caveat(text.few_rows(n), severity=1.0, kind="few rows")
    least = int(np.ceil(DOUBTFUL * k))
    if near_chance(quality) < DOUBTFUL:  # else nearly all distances are equal, and no row has nearest ones
        few = quality.near_neighbors[:, 0] * k < least - 1e-9
        yield from _about_rows(run, few, "doubtful", lambda share: text.doubtful(share, least, k))
        # a row's score times this is the mean number of rows between it and its neighbors on the map
        most = (2 * n - 3 * k - 1) / 2
        yield from _about_rows(run, quality.tears[:, 0] * most > _FAR * n, "torn", text.torn)
    yield from _about_seeds(run, k)


def _about_rows(
    run: Run, bad: npt.NDArray[np.bool_], kind: str, sentence: Callable[[float], str]
) -> Iterator[Caveat]:
    assert run.quality is not None
    share = float(np.mean(bad))
    if share >= _FEWEST:
        yield Caveat(sentence(share), tuple(int(row) for row in run.quality.rows[bad]), share, kind)


def _about_seeds(run: Run, k: int) -> Iterator[Caveat]:
    """How far another seed moves the near neighbors."""
    assert run.quality is not None
    name = near_name(run.quality)
    scores = [repeat[name] for repeat in run.repeats if name in repeat]
    chance = near_chance(run.quality)
    counts = [k * (chance + (1 - chance) * value) for value in (run.quality.measures[name].value, *scores)]
    if max(counts) - min(counts) >= _SEEDS_DIFFER:
        sentence = text.seeds(int(min(counts)), int(max(counts)), len(counts), k)
        yield Caveat(sentence, severity=(max(counts) - min(counts)) / k, kind="seeds")
