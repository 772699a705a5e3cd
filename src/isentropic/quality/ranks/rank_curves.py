"""Measures of neighbourhood preservation as functions of k, from the sums of a pass.

With R the ranks in X, r those in Z, n rows, and sums over all pairs of different rows:

- trustworthiness ``T(k) = 1 - 2/G_k sum_{r <= k < R} (R - k)``, continuity with R and r exchanged;
  ``G_k = n k (2n - 3k - 1)`` for k < n/2, else ``n (n - k)(n - k - 1)``; 1 at k = n - 1
- ``Q_NX(k) = #{R <= k and r <= k} / (n k)``, ``LCMC(k) = Q_NX(k) - k / (n - 1)``
- ``R_NX(k) = ((n - 1) Q_NX(k) - k) / (n - 1 - k)``, for k up to n - 2
- ``B_NX(k) = (#{r < R <= k} - #{R < r <= k}) / (n k)``, positive where the map is intrusive
- ``MRRE_false(k) = 1 - 1/H_k sum_{r <= k} |R - r| / r``, ``MRRE_missing`` with R and r exchanged;
  ``H_k = n sum_{l <= k} |n - 2l + 1| / l``. H counts self among the ranks, as in the literature, so that
  the value of a very bad map can fall slightly below 0 for k near n/2
- with d the distances in X, ``d_i(k)`` that of the k-th nearest row of i, and row j near row i where
  ``d_ij <= max(min(1.5 mean(d_i(1), ..., d_i(k)), d_i(max((n - 1) / 5, 2k))), d_i(k))``:
  ``near_share(k) = #{r <= k and near} / (n k)``,
  ``near_chance(k) = #near / (n (n - 1))``, the same for random neighbours, and
  ``near_neighbors(k) = (near_share - near_chance) / (1 - near_chance)``, for k up to n - 2; 0 where every
  row is near

Estimated from sampled rows, n pairs a row are replaced by those of the sampled rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..._core.values import Floats, Integers
from ..measures import MeasureSpec
from .rank_sums import RankSums


def rank_weight(n: int, k: Integers) -> Floats:
    """``G_k / n``: twice the greatest possible sum of a row; 0 for k = n - 1."""
    k = np.asarray(k, float)
    return np.where(2 * k < n, k * (2 * n - 3 * k - 1), (n - k) * (n - k - 1))


def error_weight(n: int, k: Integers) -> Floats:
    """``H_k / n``."""
    every = np.arange(1, n)
    return np.cumsum(np.abs(n - 2 * every + 1) / every)[np.asarray(k) - 1]


def retained_share(sums: Any, weight: Floats) -> Floats:
    """``1 - 2 sum / weight``, and 1 where nothing can be lost."""
    return 1.0 - np.divide(
        2.0 * sums, weight, out=np.zeros(np.broadcast(sums, weight).shape), where=weight > 0
    )


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Every curve, entry ``k - 1`` for k = 1, ..., n - 1; ``r_nx`` and ``near_neighbors`` end at n - 2.

    >>> import numpy as np
    >>> from isentropic.quality import assess
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> curves = assess(X, X[:, :2], measures="ranks").curves
    >>> len(curves.k), len(curves.trustworthiness), len(curves.r_nx)
    (29, 29, 28)
    """

    trustworthiness: Floats
    continuity: Floats
    q_nx: Floats
    b_nx: Floats
    mrre_false: Floats
    mrre_missing: Floats
    near_share: Floats = field(default_factory=lambda: np.empty(0))  # none of what was written without it
    near_chance: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, found: RankSums) -> Curves:
        """``O(n)`` from the sums of a pass."""
        n, count = found.n, len(found.rows)
        (above_X, below_X, up_X, down_X, near), (above_Z, below_Z, up_Z, down_Z, near_Z) = found.sums
        k = np.arange(1, n)
        ranks, errors = count * rank_weight(n, k), count * error_weight(n, k)
        # A neighbour on one side only counts 1 less as k grows by 1.
        false = np.cumsum(up_Z - _before(np.cumsum(above_Z - below_X)))
        torn = np.cumsum(up_X - _before(np.cumsum(above_X - below_Z)))
        return cls(
            trustworthiness=retained_share(false, ranks),
            continuity=retained_share(torn, ranks),
            q_nx=np.cumsum(count - above_Z + below_X) / (count * k),
            b_nx=np.cumsum(below_X - below_Z) / (count * k),
            mrre_false=1.0 - np.cumsum((up_Z + down_Z) / k) / errors,
            mrre_missing=1.0 - np.cumsum((up_X + down_X) / k) / errors,
            near_share=np.cumsum(near_Z) / (count * k),
            near_chance=np.cumsum(near) / (count * (n - 1)),
        )

    @property
    def n(self) -> int:
        return len(self.q_nx) + 1

    @property
    def k(self) -> Integers:
        return np.arange(1, self.n)

    @property
    def lcmc(self) -> Floats:
        return lcmc_of(self.q_nx, self.n, self.k)

    @property
    def r_nx(self) -> Floats:
        return rnx_of(self.q_nx[:-1], self.n, self.k[:-1])

    @property
    def near_neighbors(self) -> Floats:
        return beyond_chance(self.near_share[:-1], self.near_chance[:-1])

    @property
    def k_max(self) -> int:
        """The k of the greatest LCMC (the first of several): the border between local and global."""
        return int(np.argmax(self.lcmc)) + 1

    @property
    def q_local(self) -> float:
        """Mean of ``Q_NX(k)`` for k up to K_max."""
        return float(self.q_nx[: self.k_max].mean())

    @property
    def q_global(self) -> float:
        """Mean of ``Q_NX(k)`` for k from K_max on."""
        return float(self.q_nx[self.k_max - 1 :].mean())

    def q_means(self, k: Integers) -> tuple[Floats, Floats]:
        """What ``q_local`` and ``q_global`` would be, were the border at each of these k."""
        sums = np.cumsum(self.q_nx)
        return sums[k - 1] / k, (sums[-1] - sums[k - 1] + self.q_nx[k - 1]) / (self.n - k)

    @property
    def rnx_auc(self) -> float:
        """Area under R_NX over ln k: ``sum R_NX(k) / k / sum 1 / k`` for k = 1, ..., n - 2."""
        return self.rnx_area(len(self.r_nx))

    def rnx_area(self, k: int) -> float:
        """The same for the neighbourhoods of 1 to ``k`` rows only."""
        return float(rnx_area(self.r_nx, k))

    def values(self, kinds: Iterable[MeasureSpec], ks: tuple[int, ...]) -> dict[str, float]:
        """Measures by name: points of curves at each of these k, the area up to the first, those of all k."""
        found: dict[str, float] = {}
        for kind in kinds:
            if kind.source == "curve":
                curve = getattr(self, kind.name)
                found |= {f"{kind.name}({k})": float(curve[k - 1]) for k in ks if k <= len(curve)}
            else:
                local = kind.source == "local area"
                found[kind.name] = self.rnx_area(ks[0]) if local else float(getattr(self, kind.name))
        return found

    def as_dict(self) -> dict[str, Floats]:
        """The stored curves by name."""
        return {curve.name: getattr(self, curve.name) for curve in fields(self)}


def _before(sums: Integers) -> Integers:
    """The entry before each, 0 before the first."""
    return np.concatenate([[0], sums[:-1]])


def lcmc_of(q_nx: Floats, n: int, k: Integers) -> Floats:
    return q_nx - k / (n - 1)


def rnx_of(q_nx: Floats, n: int, k: Integers) -> Floats:
    return ((n - 1) * q_nx - k) / (n - 1 - k)


def beyond_chance(share: Any, chance: Any) -> Floats:
    """``(share - chance) / (1 - chance)``: 0 for chance, 1 for all; 0 where chance alone gives all."""
    share, chance = np.asarray(share, float), np.asarray(chance, float)
    return np.divide(share - chance, 1.0 - chance, out=np.zeros(share.shape), where=chance < 1.0)


def rnx_area(r_nx: Floats, k: int | None = None) -> Floats:
    """Area over ln k under one or more curves R_NX, (..., n - 2), up to ``k``: means weighted by 1 / k.

    >>> float(rnx_area(np.array([1.0, 0.5, 0.5]), 2)).__round__(6)
    0.833333
    """
    shown = r_nx[..., :k]
    return np.average(shown, axis=-1, weights=1.0 / np.arange(1, shown.shape[-1] + 1))


# ---- one row at a time -------------------------------------------------------------------------


def row_values(found: RankSums) -> dict[str, Floats]:
    """What each row contributes at each of ``found.ks``, (s, c): the mean over rows is the curve.

    ``r_nx`` and ``near_neighbors`` have no column for k = n - 1. The latter is a ratio of means: a row's
    contribution is its linear part, ``v + (share_i - 1 + (1 - v)(1 - chance_i)) / (1 - chance)`` for the
    value v of all rows.
    """
    n, k, terms = found.n, found.ks, found.terms
    ranks, errors = rank_weight(n, k), error_weight(n, k)
    q_nx = terms[:, :, 2] / k
    near_share, near_chance = terms[:, :, 6] / k, terms[:, :, 7] / (n - 1)
    inner = k < n - 1
    return {
        "trustworthiness": retained_share(terms[:, :, 0], ranks),
        "continuity": retained_share(terms[:, :, 1], ranks),
        "q_nx": q_nx,
        "lcmc": lcmc_of(q_nx, n, k),
        "r_nx": rnx_of(q_nx[:, inner], n, k[inner]),
        "b_nx": terms[:, :, 3] / k,
        "mrre_false": 1.0 - terms[:, :, 4] / errors,
        "mrre_missing": 1.0 - terms[:, :, 5] / errors,
        "near_share": near_share,
        "near_chance": near_chance,
        "near_neighbors": _ratio_parts(near_share[:, inner], near_chance[:, inner]),
    }


def _ratio_parts(share: Floats, chance: Floats) -> Floats:
    """What each row adds to ``beyond_chance`` of the means, to first order; (s, c)."""
    value, room = beyond_chance(share.mean(axis=0), chance.mean(axis=0)), 1.0 - chance.mean(axis=0)
    parts = (share - 1.0) + (1.0 - value) * (1.0 - chance)
    return value + np.divide(parts, room, out=np.zeros(parts.shape), where=room > 0)
