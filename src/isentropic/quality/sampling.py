"""Row samples of quality measures, and the 95% half-widths of their estimates.

Rows are sampled at random without replacement, and each is compared with all others. A measure is then the
mean over the sampled rows of what each contributes, an estimate of that over all rows. Its 95% interval is
the usual one for such a mean: Student's t times the standard error, less by what the finite number of
rows leaves out. Where few rows contribute most, as with a single tear, it needs some 1,000 rows: of
200 such intervals one in ten misses the truth rather than one in twenty.

``q_local`` and ``q_global`` end and begin at the k of the greatest LCMC, which a sample finds but roughly,
for near its maximum the curve is flat. With that k held, intervals of some maps hold the truth 45 times of
100. So they are widened by what the means are at every k whose LCMC cannot be told from the greatest. Then
they hold it 91 to 100 times of 100: too often rather than too seldom.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from .._core.errors import require, require_count
from .._core.runtime import generator
from .._core.values import DistanceRows, Floats, Integers
from .inputs import mean_interval
from .ranks.rank_curves import Curves, row_values
from .ranks.rank_sums import OrderReading, RankSums, rank_sums

Sample = int | None | Literal["auto"]

EXACT_ROWS = 30_000  # "auto" compares all of up to that many rows: some ten seconds on two cores
FIRST_ROWS = 4_000  # "auto" draws of more rows; more of them if the interval is wide
WIDTH = 0.01  # of the interval of trustworthiness and continuity that "auto" asks for
_GRID = 48  # values of k, besides the chosen ones, at which curves have an interval


def checked_neighbors(n_neighbors: Any, n: int) -> tuple[int, ...]:
    """Increasing values of k; None stands for 10, 30 and 100, as far as they are below n/2.

    Of fewer than 31 rows it is a third of the others: ten neighbours would be most of a small table.

    >>> [checked_neighbors(None, n) for n in (12, 22, 31, 500)]
    [(3,), (7,), (10,), (10, 30, 100)]
    """
    if n_neighbors is None:
        first = default_neighbors(n)
        return (first, *(k for k in (30, 100) if 2 * k < n))
    given = np.atleast_1d(np.asarray(n_neighbors, dtype=object))
    require(given.ndim == 1 and len(given) > 0, "n_neighbors", "an integer or several", n_neighbors)
    hint = f"There are {n} rows, so that each has {n - 1} others."
    must_be = f"from 1 to {n - 1}"
    return tuple(sorted({require_count("n_neighbors", k, must_be, most=n - 1, hint=hint) for k in given}))


def default_neighbors(n: int) -> int:
    """Neighbours that a row of n is asked for: 10, and of fewer than 31 rows a third of the others."""
    return max(1, min(10, (n - 1) // 3))


def checked_sample(sample: Any, n: int) -> Sample:
    if sample is None:
        return None
    if isinstance(sample, str) and sample == "auto":
        return "auto"
    must_be = f"'auto', None for all rows, or an integer from 2 to {n}"
    return require_count("sample", sample, must_be, least=2, most=n)


def sampled_rows(sample: Any, n: int, most: int, random: np.random.RandomState) -> Integers:
    """Row numbers of a sample: ``"auto"`` takes ``most`` of more rows than that."""
    count = checked_sample(sample, n)
    count = min(most, n) if count == "auto" else count or n
    return np.sort(random.permutation(n)[:count])


def interval_grid(n: int, ks: tuple[int, ...]) -> Integers:
    """The chosen k and others between 1 and n - 1, evenly spread over ln k."""
    spread = np.geomspace(1, n - 1, _GRID).round().astype(np.int64)
    return np.union1d(spread, np.array(ks, np.int64))


def sampled_rank_sums(
    X: DistanceRows,
    Z: DistanceRows,
    ks: tuple[int, ...],
    sample: Sample,
    random_state: Any = None,
    n_jobs: int | None = None,
    reading: OrderReading | None = None,
) -> RankSums:
    """All rows, or as many drawn ones as ``sample`` says; drawn ones have terms on a grid of k too.

    ``"auto"`` compares all rows up to 30,000, and of more rows 4,000, then as many more as make the
    intervals of trustworthiness and continuity at every chosen k at most 0.01 wide. Orders are read of all
    rows only: what is made of them needs fewer than are drawn.
    """
    n = X.n
    sample = checked_sample(sample, n)
    if sample is None or sample == n or (sample == "auto" and n <= EXACT_ROWS):
        return rank_sums(X, Z, ks, reading=reading, n_jobs=n_jobs)
    order = generator(random_state).permutation(n)
    first = FIRST_ROWS if sample == "auto" else sample
    grid = interval_grid(n, ks)
    found = rank_sums(X, Z, grid, order[:first], n_jobs=n_jobs)
    if sample != "auto":
        return found
    enough = min(n, _rows_needed(found, ks))
    if enough <= first:
        return found
    return found.joined(rank_sums(X, Z, grid, order[first:enough], n_jobs=n_jobs))


def _rows_needed(found: RankSums, ks: tuple[int, ...]) -> int:
    """Rows that make the intervals as narrow as asked for, with a tenth to spare."""
    values = row_values(found)
    at = np.searchsorted(found.ks, ks)
    spread = max(
        float(values[name][:, at].std(axis=0, ddof=1).max()) for name in ("trustworthiness", "continuity")
    )
    without_end = (2 * 1.96 * spread / WIDTH) ** 2
    return math.ceil(1.1 * without_end / (1 + without_end / found.n))  # all rows leave nothing to chance


# ---- intervals ---------------------------------------------------------------------------------


def half_widths(found: RankSums) -> dict[str, Floats]:
    """Of the 95% interval of every curve, at each of ``found.ks``."""
    return {
        name: np.array([half_width(column, found.n) for column in values.T])
        for name, values in row_values(found).items()
    }


def half_width(values: Floats, n: int) -> float:
    """Of the 95% interval of the mean of n rows, from those that were drawn."""
    low, high = mean_interval(values, n)
    return (high - low) / 2


def row_means(found: RankSums, k_max: int) -> dict[str, Floats]:
    """What each row contributes to the area under R_NX, and to Q_NX up to and from ``k_max`` on.

    Values between those of ``found.ks`` are on straight lines: near enough for how rows vary.
    """
    values, n = row_values(found), found.n
    every = np.arange(1, n)
    inner = found.ks[found.ks < n - 1]
    return {
        "rnx_auc": values["r_nx"] @ _mean_weights(inner, every[:-1], 1.0 / every[:-1]),
        "q_local": values["q_nx"] @ _mean_weights(found.ks, every[:k_max], np.ones(k_max)),
        "q_global": values["q_nx"] @ _mean_weights(found.ks, every[k_max - 1 :], np.ones(n - k_max)),
    }


def plausible_borders(found: RankSums, curves: Curves) -> Integers:
    """Every k whose LCMC is not less than the greatest one by more than the rows leave to chance, at 95%.

    Both are of the same rows: it is their difference that varies, little where they are near each other.
    """
    k_max, grid = curves.k_max, found.ks
    shared = row_values(found)["q_nx"]
    own = shared @ _mean_weights(grid, np.array([k_max]), np.ones(1))
    halves = np.array([half_width(column - own, found.n) for column in shared.T])
    at = int(np.searchsorted(grid, k_max))
    allowed = np.interp(curves.k, np.insert(grid, at, k_max), np.insert(halves, at, 0.0))
    return curves.k[curves.lcmc.max() - curves.lcmc <= allowed]


def summary_errors(found: RankSums, curves: Curves, borders: Integers) -> dict[str, tuple[float, float]]:
    """How far below and above each of the :func:`row_means` the truth may lie, at 95%.

    Of ``q_local`` and ``q_global`` two errors are added, as independent ones are: how the mean varies with
    the rows, k held, and how it varies with k among the plausible ``borders``.
    """
    rows = row_means(found, curves.k_max)
    halves = {name: half_width(values, found.n) for name, values in rows.items()}
    moved = {"rnx_auc": np.array([curves.rnx_auc])}
    moved["q_local"], moved["q_global"] = curves.q_means(borders)
    out = {}
    for name, half in halves.items():
        value = getattr(curves, name)
        below, above = value - float(moved[name].min()), float(moved[name].max()) - value
        out[name] = (math.hypot(half, below), math.hypot(half, above))
    return out


def _mean_weights(grid: Integers, k: Integers, weights: Floats) -> Floats:
    """What each value on the grid counts in the weighted mean over ``k`` of the line through them."""
    if len(grid) == 1:
        return np.ones(1)
    right = np.clip(np.searchsorted(grid, k), 1, len(grid) - 1)
    share = np.clip((k - grid[right - 1]) / (grid[right] - grid[right - 1]), 0.0, 1.0)
    out = np.bincount(right, share * weights, len(grid)) + np.bincount(
        right - 1, (1 - share) * weights, len(grid)
    )
    return out / weights.sum()
