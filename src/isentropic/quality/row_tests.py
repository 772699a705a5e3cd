"""``row_tests``: is each row of a map placed better than chance would place it? A p-value for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._errors import require, require_number
from .._runtime import generator, row_blocks
from .._values import DistanceRows, Floats, Integers
from ..distances import Metric
from .inputs import both_sides
from .rank_correlations import compared_rows
from .sampling import EXACT_ROWS, FIRST_ROWS, drawn_rows

_REFERENCES = 1_000  # rows to which distances are compared: of more, as many are drawn
_BLOCK = 256  # rows whose distances are held at a time
_FEWEST = 8  # rows of a map: the nearest half of fewer has no order to speak of
CHANCE = 0.05  # a row whose p is above it is not told from one in a random place
_FLAT = 0.5  # above it, p-values of rows that are placed better than by chance are rare


@dataclass(frozen=True, slots=True, eq=False)
class RowTests:
    """Of each tested row: how well the map keeps the order of its nearest rows, and its p by chance."""

    rows: Integers  # (s,) row numbers, increasing
    reliability: Floats  # (s,) Spearman's rho of distances in the data and in the map; 1 perfect, 0 chance
    p: Floats  # (s,) of a rho so great in a map whose rows were shuffled
    n_near: int  # rows that each is compared with

    @property
    def by_chance(self) -> float:
        """Estimated share of rows that are placed no better than by chance (Storey).

        Their p-values are even from 0 to 1, those of all others near 0: twice the share above one half.
        """
        return min(1.0, float(np.mean(self.p > _FLAT)) / (1.0 - _FLAT))

    @property
    def doubtful(self) -> Integers:
        """Rows whose p is above 0.05: nothing tells them from rows in random places."""
        return self.rows[self.p > CHANCE]


def row_tests(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    share: float = 0.5,
    rows: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RowTests:
    """Test every row of a map against chance (scDEED's reliability, for any map).

    The reliability of row i is Spearman's correlation ``rho_i`` of its distances in the data and in the map,
    over the ``share`` of all rows that is nearest to it in the data. Were the rows of the map shuffled, every
    order of those rows would be as likely, so that ``t = rho sqrt((h - 2) / (1 - rho^2))`` has
    Student's distribution with h - 2 degrees of freedom, h the number of those rows: p follows without a
    shuffle. Of more than 1,000 rows as many are drawn, once, and distances to them compared; of more than
    30,000 rows 4,000 are tested. ``O(s r m)`` time for s rows and r of the drawn, ``O(s + r)`` memory.

    Parameters
    ----------
    X : array (n, m)
        The data; distances with ``metric="precomputed"``.
    Z : array (n, d)
        The map.
    share : float
        Of the rows, the nearest in the data: smaller ones ask for the order of nearer rows.
    rows : array of int, optional
        Those to test.

    References
    ----------
    L. Xia, C. Lee, J. J. Li, Statistical method scDEED for detecting dubious 2D single-cell embeddings and
    optimizing t-SNE and UMAP hyperparameters, Nature Communications 15 (2024). J. D. Storey, A direct approach
    to false discovery rates, Journal of the Royal Statistical Society B 64 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Z = X[:, :2].copy()
    >>> Z[:40] = Z[39::-1]  # forty rows in places of others
    >>> found = row_tests(X, Z)
    >>> int((found.doubtful < 40).sum()), int((found.doubtful >= 40).sum())
    (38, 3)
    """
    given, mapped = both_sides(X, Z, metric=metric, fewest=_FEWEST, n_jobs=n_jobs)
    n = given.n
    share = require_number("share", share, "above 0, at most 1", above=0.0, most=1.0)
    random = generator(random_state)
    references = drawn_rows("auto", n, _REFERENCES, random)
    tested = _tested(rows, n, random)
    near = min(len(references) - 1, max(_FEWEST // 2, round(share * (len(references) - 1))))
    rho = np.empty(len(tested))
    for part in row_blocks(len(tested), "tests of rows", size=_BLOCK):
        rho[part] = _reliabilities(given, mapped, tested[part], references, near, n_jobs)
    known = np.where(np.isnan(rho), 0.0, rho)
    t = known * np.sqrt((near - 2) / np.maximum(1.0 - known**2, 1e-300))
    p = np.where(np.isnan(rho), 1.0, stats.t.sf(t, near - 2))
    return RowTests(tested, known, p, near)


def _tested(rows: Any, n: int, random: np.random.RandomState) -> Integers:
    if rows is None:
        return np.arange(n) if n <= EXACT_ROWS else drawn_rows(FIRST_ROWS, n, n, random)
    chosen = np.unique(np.asarray(rows, np.int64))
    require(len(chosen) > 0, "rows", "at least one row", "none")
    require(0 <= chosen[0] and chosen[-1] < n, "rows", f"positions from 0 to {n - 1}", chosen[[0, -1]])
    return chosen


def _reliabilities(
    X: DistanceRows, Z: DistanceRows, rows: Integers, references: Integers, near: int, n_jobs: int | None
) -> Floats:
    """NaN where all distances are equal, in the data or in the map."""
    apart, drawn = _distances(X, rows, references), _distances(Z, rows, references)
    apart[rows[:, None] == references] = np.inf  # a row is no neighbour of itself
    nearest = np.sort(np.argpartition(apart, near - 1, axis=1)[:, :near], axis=1)
    lists = (np.ascontiguousarray(np.take_along_axis(side, nearest, axis=1)) for side in (apart, drawn))
    return np.array([found.spearman_rho for found in compared_rows(*lists, n_jobs=n_jobs)])


def _distances(side: DistanceRows, rows: Integers, references: Integers) -> Floats:
    if side.pairs is None or len(references) == side.n:
        return side.rows(rows)[:, references]
    first, second = np.repeat(rows, len(references)), np.tile(references, len(rows))
    return side.pairs(first, second).reshape(len(rows), len(references))
