"""Do several methods differ over several tables? Ranks, the tests on them, and how large the differences are.

Scores are a table with a line for each block (a data set) and a column for each method. Blocks must be
independent: eight classifiers on one data set are one block, not eight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._core.errors import require, require_count, require_number, require_one_of
from .._core.values import Floats

TESTS = ("nemenyi", "conover", "wilcoxon", "normal")
_TAIL = 1e-8  # below, numerical integration of the studentized range has no digit left


@dataclass(frozen=True, slots=True)
class RankTest:
    """Friedman's test and its corrections: whether the methods differ at all, over so many blocks."""

    methods: tuple[str, ...]
    n_blocks: int
    average_ranks: tuple[float, ...]  # 1 is best
    friedman: float  # chi-square, corrected for ties
    friedman_p: float
    iman_davenport: float  # F; inf where every block ranks alike
    iman_davenport_p: float
    agreement: float  # Kendall's W: 0 the blocks rank at random, 1 all alike


@dataclass(frozen=True, slots=True)
class Effect:
    """How one method differs from another over the blocks, beyond a p-value."""

    first: str
    second: str
    wins: int  # of the first
    ties: int
    losses: int
    median: float  # of the differences
    rank_biserial: float  # of matched pairs: 1 the first is always better, -1 never, 0 level


def ranks(scores: Any, *, greater: bool = True) -> Floats:
    """Rank of each method in each block, 1 the best; equal scores share the mean of their ranks.

    >>> ranks([[0.9, 0.7, 0.9], [0.5, 0.6, 0.4]]).tolist()
    [[1.5, 3.0, 1.5], [2.0, 1.0, 3.0]]
    """
    S = _checked(scores)
    found: Floats = stats.rankdata(-S if greater else S, axis=1)
    return found


def rank_test(scores: Any, methods: Sequence[str], *, greater: bool = True) -> RankTest:
    """Friedman's test, Iman and Davenport's F, and Kendall's W, corrected for ties.

    ``chi2 = (k - 1) sum_j (R_j - N (k+1)/2)^2 / (sum r_ij^2 - N k (k+1)^2 / 4)`` with R_j the sum of ranks of
    method j; ``F = (N - 1) chi2 / (N (k - 1) - chi2)``; ``W = chi2 / (N (k - 1))``.

    >>> from isentropic.experiments.statistics import rank_test
    >>> test = rank_test([[3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]], ("a", "b", "c"))
    >>> test.average_ranks, round(test.friedman, 3), round(test.agreement, 3)
    ((1.25, 2.0, 2.75), 4.5, 0.562)
    """
    R = ranks(scores, greater=greater)
    (N, k), names = R.shape, tuple(methods)
    require(len(names) == k, "methods", f"{k} names, one for each column", len(names))
    spread = float((R**2).sum() - N * k * (k + 1) ** 2 / 4)
    require(
        spread > 0, "scores", "different in some block", "equal scores in each", "There is nothing to test."
    )
    chi = (k - 1) * float(((R.sum(axis=0) - N * (k + 1) / 2) ** 2).sum()) / spread
    rest = N * (k - 1) - chi
    alike = rest <= 1e-9 * N
    F = math.inf if alike else (N - 1) * chi / rest
    return RankTest(
        names,
        N,
        tuple(R.mean(axis=0).tolist()),
        chi,
        float(stats.chi2.sf(chi, k - 1)),
        F,
        0.0 if alike else float(stats.f.sf(F, k - 1, (k - 1) * (N - 1))),
        min(chi / (N * (k - 1)), 1.0),
    )


def pairwise(scores: Any, test: str = "nemenyi", *, greater: bool = True) -> Floats:
    """p-values of all pairs of methods, symmetric, 1 on the diagonal.

    ``"nemenyi"``: mean ranks by the studentized range, for all pairs at once. ``"conover"``: Conover's t on
    rank sums, not corrected for the number of pairs. ``"wilcoxon"``: signed ranks of each pair, corrected by
    Holm. ``"normal"``: two-sided normal test of mean ranks, not corrected; some sources call it Nemenyi.
    """
    require_one_of("test", test, TESTS)
    S = _checked(scores)
    if test == "wilcoxon":
        return holm(_signed_ranks(S))
    R = ranks(S, greater=greater)
    N, k = R.shape
    apart = np.abs(R.mean(axis=0)[:, None] - R.mean(axis=0))
    if test == "conover":
        return _conover(R, apart * N)
    z = apart / math.sqrt(k * (k + 1) / (6 * N))
    p = 2 * stats.norm.sf(z) if test == "normal" else _studentized(z * math.sqrt(2), k)
    np.fill_diagonal(p, 1.0)
    return p


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Nemenyi: mean ranks that differ by more than this differ at the level ``alpha``.

    ``q_alpha sqrt(k (k + 1) / 6 N)``, with q the studentized range divided by the root of 2.

    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, 0.1), 2)
    (1.25, 1.12)
    """
    require_number("alpha", alpha, "a level between 0 and 1", above=0.0, below=1.0)
    require(
        n_methods > 1 and n_blocks > 0, "methods and blocks", "two and one at least", (n_methods, n_blocks)
    )
    q = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))


def cliques(average_ranks: Sequence[float], difference: float) -> tuple[tuple[int, ...], ...]:
    """Largest groups of methods whose mean ranks are within the critical difference, best first.

    >>> cliques([1.0, 1.5, 2.9, 3.1], 1.0)
    ((0, 1), (2, 3))
    """
    order = sorted(range(len(average_ranks)), key=lambda i: (average_ranks[i], i))
    found: list[tuple[int, ...]] = []
    reached = 0
    for start, first in enumerate(order):
        near = [i for i in order[start:] if average_ranks[i] - average_ranks[first] <= difference]
        if len(near) > 1 and start + len(near) > reached:
            found.append(tuple(near))
            reached = start + len(near)
    return tuple(found)


def holm(p: Floats) -> Floats:
    """Holm's correction of the p-values of all pairs: rejected step by step, the smallest first.

    >>> holm(np.array([[1.0, 0.01, 0.04], [0.01, 1.0, 0.03], [0.04, 0.03, 1.0]]))[0].round(3).tolist()
    [1.0, 0.03, 0.06]
    """
    upper = np.triu_indices(len(p), 1)
    given = p[upper]
    order = np.argsort(given, kind="stable")
    steps = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)), 1.0)
    corrected = np.ones_like(p)
    values = np.empty_like(given)
    values[order] = steps
    corrected[upper] = values
    corrected.T[upper] = values
    return corrected


def effect(scores: Any, methods: Sequence[str], first: str, second: str, *, greater: bool = True) -> Effect:
    """Wins, ties and losses, the median difference, and the rank-biserial correlation of matched pairs.

    ``(sum of ranks of |d| where the first is better - where it is worse) / sum of all``, zeros left out.

    >>> effect([[0.9, 0.7], [0.8, 0.7], [0.5, 0.6]], ("a", "b"), "a", "b").rank_biserial
    0.5
    """
    names = tuple(methods)
    for name in (first, second):
        require_one_of("method", name, names)
    S = _checked(scores)
    differences = np.round(S[:, names.index(first)] - S[:, names.index(second)], 12)
    better = differences if greater else -differences
    better = better[better != 0]
    weights = stats.rankdata(np.abs(better)) if len(better) else np.zeros(0)
    total = float(weights.sum())
    balance = float((weights * np.sign(better)).sum()) / total if total else 0.0
    wins, losses = int((better > 0).sum()), int((better < 0).sum())
    median = float(np.median(differences))
    return Effect(first, second, wins, len(S) - len(better), losses, median, balance)


# ---- tests of pairs ----------------------------------------------------------------------------


def _checked(scores: Any) -> Floats:
    S = np.asarray(scores, float)
    fits = S.ndim == 2 and S.shape[0] >= 2 and S.shape[1] >= 2
    require(fits, "scores", "a table of at least two blocks and two methods", S.shape)
    hint = "Leave out blocks that some method has no score for."
    require(bool(np.isfinite(S).all()), "scores", "finite", "a score that is not", hint)
    return np.round(S, 12)  # equal scores that differ by rounding are a tie


def _studentized(q: Floats, k: int) -> Floats:
    """P(range of k normals > q). Far out it is the sum over pairs, of which two at once add nothing."""
    p = np.asarray(stats.studentized_range.sf(q, k, np.inf), float)
    bound = k * (k - 1) * stats.norm.sf(q / math.sqrt(2))
    return np.where(bound < _TAIL, bound, np.clip(p, 0.0, 1.0))


def _conover(R: Floats, apart: Floats) -> Floats:
    """Conover's t of differences of rank sums, on the variance that Friedman's test leaves."""
    N, k = R.shape
    spread = float((R**2).sum() - N * k * (k + 1) ** 2 / 4)
    chi = (k - 1) * float(((R.sum(axis=0) - N * (k + 1) / 2) ** 2).sum()) / spread if spread else 0.0
    variance = 2 * N * (1 - chi / (N * (k - 1))) * spread / ((N - 1) * (k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(apart > 0, apart / math.sqrt(max(variance, 0.0)), 0.0)
    p = 2 * stats.t.sf(t, (N - 1) * (k - 1))
    np.fill_diagonal(p, 1.0)
    return p


def _signed_ranks(S: Floats) -> Floats:
    k = S.shape[1]
    p = np.ones((k, k))
    for i in range(k):
        for j in range(i):
            different = np.round(S[:, i] - S[:, j], 12)
            if np.any(different):
                p[i, j] = p[j, i] = stats.wilcoxon(different).pvalue
    return p


# --------------------------------------------------------------------------------------------------
# How probable is it that one method is better than another, worse, or level with it, over data sets?
#
# A p-value says how unlikely the scores are where two methods do not differ; it never says that they are
# level.


ROPE = 0.01  # scores that differ by less are level in practice
_PRIOR = 0.5  # blocks without a difference that are known beforehand
_BLOCK = 2**22  # numbers at a time


@dataclass(frozen=True, slots=True)
class Posterior:
    """Probabilities that the first is better, that both are level, that the second is better: 1 in all."""

    first: float
    level: float
    second: float


def signed_rank_posterior(
    first: Any, second: Any, rope: float = ROPE, *, n_draws: int = 50_000, seed: int = 0
) -> Posterior:
    """Bayesian signed-rank test with a region of practical equivalence (Benavoli and others, 2017).

    A Dirichlet process gives the N differences, and half a one of 0 that is there beforehand, weights
    ``w ~ Dir(1/2, 1, ..., 1)``. Of each draw the regions have the shares ``sum w_i w_j`` of the pairs whose
    mean difference (Walsh average) ``(d_i + d_j) / 2`` is above ``rope``, within it, or below ``-rope``, a
    pair on a border half and half; the probability of a region is how often it has the largest. Blocks must
    be independent: one for each data set. ``O(n_draws N^2)``, by a seed.

    >>> signed_rank_posterior([0.9, 0.8, 0.85, 0.7], [0.5, 0.4, 0.6, 0.3]).first > 0.95
    True
    >>> signed_rank_posterior([0.9, 0.8, 0.85, 0.7], [0.901, 0.8, 0.849, 0.7]).level
    1.0
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    fits = a.ndim == 1 and a.shape == b.shape and len(a) > 0
    require(fits, "first and second", "a score of each for every block", (a.shape, b.shape))
    require(bool(np.isfinite(a - b).all()), "scores", "finite", "a score that is not")
    require_number("rope", rope, "a difference of at least 0", least=0.0)
    n_draws = require_count("n_draws", n_draws)
    d = np.concatenate([[0.0], a - b])
    means = np.round((d[:, None] + d) / 2, 12)
    above, below = _share(means, rope), _share(-means, rope)
    draws = np.random.default_rng(seed)
    weights = np.array([_PRIOR, *np.ones(len(a))])
    counts, step = np.zeros(3), max(_BLOCK // len(d), 1)
    for start in range(0, n_draws, step):
        w = draws.dirichlet(weights, min(step, n_draws - start))
        better, worse = (((w @ region) * w).sum(axis=1) for region in (above, below))
        shares = np.column_stack([better, 1 - better - worse if rope > 0 else 0 * better, worse])
        counts += np.bincount(shares.argmax(axis=1), minlength=3)
    return Posterior(*(counts / n_draws).tolist())


def _share(means: Floats, rope: float) -> Floats:
    """1 above the border, half on it."""
    return np.asarray((means > rope) + 0.5 * (means == rope), float)


# ---- Where everything stands in a critical-difference diagram, whoever draws it ------------------


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
