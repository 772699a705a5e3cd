"""Pairs of rows drawn at random, and the intervals of what is estimated from them.

Pairs are drawn with replacement, in batches that do not depend on each other. A measure is computed from
all of them, and its interval from how it varies between the batches (Student's t).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._errors import require
from .._runtime import row_blocks
from .._values import DistanceRows, Floats, Integers
from ..neighbors.distances import rows_per_block
from .measures import Measure

BATCHES = 64
ENOUGH = 2**20  # pairs; tau of that many, drawn one by one and free of ties, is known within 0.004
FEWEST = 10 * BATCHES
_NORMAL = 1.959963984540054  # 97.5% quantile
_PER_ROW = 256  # pairs that share a row, at most, where distances come as whole rows only
_ROWS = 32  # of a batch, at least: one row says little about pairs of other rows


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """Distances of drawn pairs, given and mapped: one batch a row."""

    given: Floats  # (BATCHES, b)
    mapped: Floats

    @property
    def n_pairs(self) -> int:
        return self.given.size


def drawn_pairs(X: DistanceRows, Z: DistanceRows, n_pairs: Any, random_state: Any = None) -> DrawnPairs:
    """At least ``n_pairs`` pairs of different rows, each equally likely.

    They are drawn one by one where both sides can tell the distance of a single pair. Otherwise rows are
    drawn, and up to 256 partners for each: pairs that share a row are in the same batch. No
    ``random_state`` is a fixed seed.
    """
    is_count = isinstance(n_pairs, int | np.integer) and not isinstance(n_pairs, bool)
    must_be = f"None, 'auto' or an integer from {FEWEST} on"
    require(is_count and n_pairs >= FEWEST, "n_pairs", must_be, n_pairs)
    single = X.pairs is not None and Z.pairs is not None
    per_row = 1 if single else max(1, min(_PER_ROW, X.n - 1, n_pairs // (BATCHES * _ROWS)))
    per_batch = math.ceil(n_pairs / (BATCHES * per_row))
    random = check_random_state(0 if random_state is None else random_state)
    drawn = random.randint(X.n, size=(BATCHES * per_batch, 1))
    partners = random.randint(X.n - 1, size=(BATCHES * per_batch, per_row))
    partners += partners >= drawn
    if single:
        sides = [_single(side, drawn[:, 0], partners[:, 0]) for side in (X, Z)]
    else:
        sides = [_from_rows(side, drawn[:, 0], partners) for side in (X, Z)]
    given, mapped = (distances.reshape(BATCHES, -1) for distances in sides)
    return DrawnPairs(given, mapped)


def _single(side: DistanceRows, first: Integers, second: Integers) -> Floats:
    assert side.pairs is not None
    out = np.empty(len(first))
    for block in row_blocks(len(first), "drawn pairs", size=2**16):
        out[block] = side.pairs(first[block], second[block])
    return out


def _from_rows(side: DistanceRows, rows: Integers, partners: Integers) -> Floats:
    out = np.empty(partners.shape)
    for block in row_blocks(len(rows), "drawn pairs", size=rows_per_block(side.n)):
        out[block] = np.take_along_axis(side.rows(rows[block]), partners[block], axis=1)
    return out


def interval(
    value: float, batch_values: Iterable[float], least: float = -math.inf, greatest: float = math.inf
) -> tuple[float, float]:
    """95% interval of ``value``, from the same measure of each batch, within its possible values.

    All possible values, where some batch says nothing: one whose distances are all equal, say.
    """
    from scipy.stats import t

    values = np.fromiter(batch_values, float)
    if np.isnan(values).any():
        return least, greatest
    spread = values.std(ddof=1) / math.sqrt(len(values))
    half = float(t.ppf(0.975, len(values) - 1) * spread)
    return max(least, value - half), min(greatest, value + half)


def mean_interval(
    row_values: Floats, n_rows: int, least: float = -math.inf, greatest: float = math.inf
) -> tuple[float, float]:
    """95% interval of the mean over ``n_rows`` rows, from the values of rows drawn without replacement."""
    from scipy.stats import t

    drawn = len(row_values)
    left_out = math.sqrt(max(1.0 - drawn / n_rows, 0.0))  # all rows drawn: nothing is left to chance
    half = float(t.ppf(0.975, drawn - 1) * row_values.std(ddof=1) / math.sqrt(drawn) * left_out)
    mean = float(row_values.mean())
    return max(least, mean - half), min(greatest, mean + half)


def wilson(share: float, count: float) -> tuple[float, float]:
    """The 95% interval of a share of so many draws: not empty where all or none of them hit.

    >>> [round(end, 3) for end in wilson(0.9, 10)]
    [0.596, 0.982]
    """
    square = _NORMAL**2 / count
    centre = (share + square / 2) / (1 + square)
    half = _NORMAL / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def share_interval(share: float, drawn: int, n_rows: int) -> tuple[float, float]:
    """The same of rows drawn without replacement, which count for more the more of all they are."""
    return (share, share) if drawn == n_rows else wilson(share, drawn / (1 - drawn / n_rows))


def mean_measure(row_values: Floats, n_rows: int, sampled: bool, measure: Measure) -> Measure:
    """``measure`` with the mean over rows as its value, and an interval if the rows are sampled."""
    value = float(row_values.mean())
    if not sampled:
        return replace(measure, value=value)
    low, high = mean_interval(row_values, n_rows, *measure.range)
    return replace(measure, value=value, low=low, high=high)
