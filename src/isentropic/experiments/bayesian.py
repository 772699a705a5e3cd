"""How probable is it that one method is better than another, worse, or level with it, over data sets?

A p-value says how unlikely the scores are where two methods do not differ; it never says that they are level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.errors import require, require_count, require_number
from .._core.values import Floats

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
