"""Measures of neighborhoods by ranks: trustworthiness, continuity, LCMC, MRRE, R_NX, the co-ranking matrix.

Every function makes one pass over all rows, ``O(n^2 m)`` time and ``O(n)`` memory, whatever k: for
several measures, or more than some 30,000 rows, :func:`~isentropic.quality.assess` does it in one pass, or
from a sample. Formulas are in :mod:`isentropic.quality.ranks.rank_curves`. Ties are broken by row number.

``X`` is a table with a ``metric``, distances with ``metric="precomputed"`` (a matrix, or condensed), or a
``DistanceRows``; ``Z`` is a table, or a ``DistanceRows``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._core.errors import require_count, require_number
from ..._core.runtime import require_memory, row_blocks
from ..._core.values import Floats, Integers
from ...distances import Metric, rows_per_block
from ...kernels.row_ranks import add_coranks
from ..inputs import both_sides
from ..sampling import checked_neighbors
from .rank_curves import Curves, beyond_chance, row_values
from .rank_sums import NEAR, RankSums, ordered_rows, rank_sums


def trustworthiness(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Any:
    """``1 - 2/G_k sum_{r <= k < R} (R - k)``: 1 if no neighbour in ``Z`` is false.

    As ``sklearn.manifold.trustworthiness``, but for any k below n, and for several at once: a number
    for one ``n_neighbors``, an array for several.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> trustworthiness(X, X)
    1.0
    >>> trustworthiness(X, X[:, :2], n_neighbors=[5, 10]).round(3).tolist()
    [0.871, 0.886]
    """
    return _at("trustworthiness", X, Z, n_neighbors, metric, n_jobs)


def continuity(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Any:
    """``1 - 2/G_k sum_{R <= k < r} (r - k)``: 1 if no neighbourhood of ``X`` is torn.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(continuity(X, X[:, :2], n_neighbors=10), 3)
    0.955
    """
    return _at("continuity", X, Z, n_neighbors, metric, n_jobs)


def lcmc(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Any:
    """Local continuity meta-criterion: the share of neighbours that are kept, less k / (n - 1), by chance.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(lcmc(X, X, n_neighbors=7), 12) == round(1 - 7 / 49, 12)
    True
    """
    return _at("lcmc", X, Z, n_neighbors, metric, n_jobs)


def mrre(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> tuple[Any, Any]:
    """Both mean relative rank errors, as 1 less the error: of false neighbours, and of missing ones.

    ``1 - 1/H_k sum_{r <= k} |R - r| / r`` and ``1 - 1/H_k sum_{R <= k} |R - r| / R``.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> mrre(X, 2 * X)
    (1.0, 1.0)
    """
    found, ks = _pass(X, Z, n_neighbors, metric, n_jobs)
    curves = Curves.of(found)
    return _chosen(curves.mrre_false, n_neighbors, ks), _chosen(curves.mrre_missing, n_neighbors, ks)


def rnx_curve(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> Floats:
    """``R_NX(k)`` for k = 1, ..., n - 2: the share of neighbours kept, from 0 (chance) to 1.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> rnx_curve(X, X[:, :2]).shape
    (48,)
    """
    return Curves.of(_pass(X, Z, 1, metric, n_jobs)[0]).r_nx


def rnx_auc(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """Area under R_NX over ln k: one number for all sizes of neighbourhood, small ones counting most.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> rnx_auc(X, X)
    1.0
    """
    return Curves.of(_pass(X, Z, 1, metric, n_jobs)[0]).rnx_auc


def false_neighbors(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Score of false neighbours of every row in ``Z``: 0 if all are neighbours in ``X``, 1 at worst.

    ``2n/G_k sum_{j: r_ij <= k < R_ij} (R_ij - k)`` for row i; trustworthiness is 1 less the mean. Shape
    (n,) for one ``n_neighbors``, (n, c) for several.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> scores = false_neighbors(X, X[:, :2], n_neighbors=10)
    >>> bool(np.isclose(1 - scores.mean(), trustworthiness(X, X[:, :2], n_neighbors=10)))
    True
    """
    return _scores("trustworthiness", X, Z, n_neighbors, metric, n_jobs)


def tears(
    X: Any, Z: Any, *, n_neighbors: Any = 5, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Score of tears of every row: 0 if all its neighbours in ``X`` stay near on the map, 1 at worst.

    As :func:`false_neighbors` with ``X`` and ``Z`` exchanged; continuity is 1 less the mean.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> float(tears(X, X).max())
    0.0
    """
    return _scores("continuity", X, Z, n_neighbors, metric, n_jobs)


@dataclass(frozen=True, slots=True, eq=False)
class NearNeighbors:
    """How many of the nearest points on a map are close in the data too, and how many would be by chance."""

    n_neighbors: int
    radius: float
    share: float  # mean of the rows
    chance: float  # mean for random neighbours
    rows: Floats  # (n,) share of the k nearest points on the map that are close in the data
    row_chance: Floats  # (n,) share of all other rows that are close

    @property
    def corrected(self) -> float:
        """``(share - chance) / (1 - chance)``: 0 at chance level, 1 if all are near; 0 if chance is 1."""
        return float(beyond_chance(self.share, self.chance))


def near_neighbor_share(
    X: Any,
    Z: Any,
    *,
    n_neighbors: int = 10,
    radius: float = NEAR,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> NearNeighbors:
    """Share of near neighbors: points that are neighbors on the map and lie close to each other in the data.

    A neighbor j of row i on the map is near if
    ``d_ij <= max(min(radius mean(d_i(1), ..., d_i(k)), d_i(max((n - 1) / 5, 2k))), d_i(k))``, with ``d_i(l)``
    the distance from i to its l-th nearest row in ``X``: at most 1.5 times as far as the k nearest rows on
    average, and in the nearest fifth of all rows or among the 2k nearest. That matters in many dimensions,
    where all rows are nearly as far away as the nearest ones. The k nearest rows themselves are always near,
    so that a perfect map has a share of 1. Other neighbors are far. Unlike for R_NX, a neighbor of rank k + 2
    is no error.
    Random neighbors are near with probability ``chance``, the mean share of all rows within that distance.

    One pass over all pairs: ``O(n^2 m)`` time, ``O(n)`` memory. :func:`~isentropic.quality.assess` gives the
    same for every k (``curves.near_share``, ``near_chance``, ``near_neighbors``), and samples large tables.

    Parameters
    ----------
    n_neighbors : int
        k, below the number of rows.
    radius : float
        How many times as far as the k nearest rows on average a near neighbor may be.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [3.0, 3.0, 0.5]
    >>> found = near_neighbor_share(X, X[:, :2])
    >>> round(found.share, 2), round(found.chance, 2), round(found.corrected, 2)
    (0.96, 0.07, 0.95)
    >>> near_neighbor_share(X, X).corrected
    1.0
    >>> found.rows.shape
    (200,)
    """
    radius = require_number("radius", radius, "a positive number", above=0.0)
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    (k,) = checked_neighbors(require_count("n_neighbors", n_neighbors), given.n)
    found = rank_sums(given, mapped, k, radius=radius, n_jobs=n_jobs)
    curves, rows = Curves.of(found), row_values(found)
    return NearNeighbors(
        n_neighbors=k,
        radius=radius,
        share=float(curves.near_share[k - 1]),
        chance=float(curves.near_chance[k - 1]),
        rows=rows["near_share"][:, 0],
        row_chance=rows["near_chance"][:, 0],
    )


def _pass(
    X: Any, Z: Any, n_neighbors: Any, metric: Metric, n_jobs: int | None
) -> tuple[RankSums, tuple[int, ...]]:
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    ks = checked_neighbors(n_neighbors, given.n)
    return rank_sums(given, mapped, ks, n_jobs=n_jobs), ks


def _at(name: str, X: Any, Z: Any, n_neighbors: Any, metric: Metric, n_jobs: int | None) -> Any:
    found, ks = _pass(X, Z, n_neighbors, metric, n_jobs)
    return _chosen(getattr(Curves.of(found), name), n_neighbors, ks)


def _chosen(curve: Floats, n_neighbors: Any, ks: tuple[int, ...]) -> Any:
    if np.ndim(n_neighbors) == 0:
        return float(curve[ks[0] - 1])
    return curve[np.asarray(n_neighbors, np.int64) - 1]


def _scores(name: str, X: Any, Z: Any, n_neighbors: Any, metric: Metric, n_jobs: int | None) -> Floats:
    found, ks = _pass(X, Z, n_neighbors, metric, n_jobs)
    scores = 1.0 - row_values(found)[name]
    if np.ndim(n_neighbors) == 0:
        return scores[:, 0]
    return scores[:, np.searchsorted(ks, np.asarray(n_neighbors, np.int64))]


# ---- co-ranking matrix ---------------------------------------------------------------------------


EXACT_ROWS = 2_001  # "auto" has a cell for each pair of ranks up to there
BINS = 1_000  # and that many of each side beyond


@dataclass(frozen=True, slots=True, eq=False)
class CorankingMatrix:
    """``counts[a, b]``: how many pairs (i, j) have R in bin a and r in bin b.

    Bin a holds the ranks from ``edges[a]`` up to, not including, ``edges[a + 1]``, of 1, ..., n - 1. Without
    bins each rank has its own, and ``edges`` is 1, 2, ..., n.
    """

    counts: Integers  # (b, b) int64
    edges: Integers  # (b + 1,)

    @property
    def n(self) -> int:
        return int(self.edges[-1])

    @property
    def binned(self) -> bool:
        """Whether a cell stands for several ranks."""
        return len(self.counts) < self.n - 1


def coranking_matrix(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    bins: int | Literal["auto"] | None = "auto",
    n_jobs: int | None = None,
) -> CorankingMatrix:
    """Co-ranking matrix: the count of each pair of ranks. A perfect map has everything on the diagonal.

    ``O(n^2 m)`` time, and 8 bytes a cell. ``bins=None`` has a cell for each of the (n - 1)^2 pairs of ranks,
    an integer that many bins of equally many ranks on either side, and ``"auto"`` the former up to 2,001
    rows, and 1,000 bins beyond.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> coranking_matrix(X, -X).counts.tolist()
    [[4, 0, 0], [0, 4, 0], [0, 0, 4]]
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    n_bins = _checked_bins(bins, given.n)
    require_memory(
        8 * n_bins**2, f"A co-ranking matrix of {n_bins:,} by {n_bins:,} cells", f"Give bins, such as {BINS}."
    )
    edges = 1 + (np.arange(n_bins + 1) * (given.n - 1)) // n_bins
    counts = np.zeros((n_bins, n_bins), np.int64)
    bin_of = np.repeat(np.arange(n_bins), np.diff(edges))
    for block in row_blocks(given.n, "co-ranking", size=rows_per_block(given.n)):
        rows = np.arange(block.start, block.stop)
        orders_X, orders_Z = (ordered_rows(side, rows, n_jobs=n_jobs)[1] for side in (given, mapped))
        add_coranks(orders_X, orders_Z, bin_of, counts)
    return CorankingMatrix(counts, edges)


def _checked_bins(bins: Any, n: int) -> int:
    if isinstance(bins, str) and bins == "auto":
        return n - 1 if n <= EXACT_ROWS else BINS
    if bins is None:
        return n - 1
    return require_count("bins", bins, f"'auto', None, or an integer from 1 to {n - 1}", most=n - 1)
