"""Measures of distances: Kendall's tau, Spearman's rho, Pearson's r, stress, and Shepard diagrams.

All are taken over the pairs of rows i < j: exact for all pairs, or estimated from sampled pairs with a 95%
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.errors import UndefinedMeasureError, message, require_count, require_one_of
from .._core.runtime import generator
from .._core.values import Floats
from ..distances import Metric, in_data_units
from ..distances.pairwise_blocks import FEWEST, sampled_pairs
from .inputs import both_sides
from .measures import Measure
from .pairwise import finite_measures, pair_measures
from .ranks.rank_sums import OrderReading
from .ranks.topology import order_terms, sampled_places, stress_measures


def kendall_tau(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    n_pairs: int | str | None = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Measure:
    """Kendall's tau-b of the distances in ``X`` and in ``Z`` over all pairs of rows i < j.

    ``(C - D) / sqrt((C + D + T_X) (C + D + T_Z))`` with C and D the pairs of distances that the two sides
    put in the same and in the opposite order, and T those tied on one side only. What is counted are the
    distances as computed, in doubles: two are tied if they are equal to the last bit. Distances that would be
    equal but for rounding, as those to copies of a row that differ by 1e-12, are in an order by chance, and
    tau differs from a count in exact numbers by about the share of such pairs of distances: in the seventh
    digit, for a table of a hundred rows each of which has a near copy. Exact in ``O(M log M)``
    time and 16 M bytes for the M = n (n - 1) / 2 pairs of rows.

    Parameters
    ----------
    X, Z : table or DistanceRows
        Data and embedding, the same rows in the same order.
    metric : str or callable
        Of ``X``; ``"precomputed"`` for a distance matrix. Distances in ``Z`` are Euclidean.
    n_pairs : int, None or "auto"
        How many pairs to draw at random; None compares all. ``"auto"`` compares all up to 20,000 rows,
        as long as they fit the memory budget, and else draws at least 2^20 and as many as make the
        interval at most 0.01 wide.
    random_state : int, RandomState or None
        Of the sampled pairs. None is a fixed seed.
    n_jobs : int or None
        Threads. The result does not depend on them.

    Returns
    -------
    Measure
        With ``value`` and, from sampled pairs, ``low`` and ``high``: the 95% interval.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(kendall_tau(X, 2 * X).value, 12)
    1.0
    >>> estimate = kendall_tau(X, X[:, :2], n_pairs=10_000, random_state=0)
    >>> estimate.low < kendall_tau(X, X[:, :2]).value < estimate.high
    True
    """
    return _one("kendall_tau", X, Z, metric, n_pairs, random_state, n_jobs)


def spearman_rho(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    n_pairs: int | str | None = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Measure:
    """Spearman's rho of the distances in ``X`` and in ``Z``: Pearson's r of their average ranks.

    Parameters, result and cost are those of :func:`kendall_tau`.

    >>> spearman_rho([[0.0], [1.0], [3.0]], [[0.0], [1.0], [-1.5]]).value
    0.5
    """
    return _one("spearman_rho", X, Z, metric, n_pairs, random_state, n_jobs)


def pearson_r(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    n_pairs: int | str | None = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Measure:
    """Pearson's r of the distances in ``X`` and in ``Z``, ``O(n^2)`` time and ``O(n)`` memory.

    Parameters and result are those of :func:`kendall_tau`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(pearson_r(X, 2 * X).value, 12)
    1.0
    """
    return _one("pearson_r", X, Z, metric, n_pairs, random_state, n_jobs)


def _one(name, X, Z, metric, n_pairs, random_state, n_jobs) -> Measure:
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    found = pair_measures([name], given, mapped, n_pairs=n_pairs, random_state=random_state, n_jobs=n_jobs)
    return found[name]


# ---- stress --------------------------------------------------------------------------------------


_KINDS = ("normalized", "scaled", "raw")


def kruskal_stress(
    X: Any, Z: Any, *, kind: str = "normalized", metric: Metric = "euclidean", n_jobs: int | None = None
) -> float:
    """Kruskal's stress over the pairs of rows i < j, with d the distances in ``X`` and z those in ``Z``.

    ``"normalized"``: ``sqrt(sum (d - z)^2 / sum d^2)``. ``"scaled"``: the same after the best scaling of the
    map, ``s z`` with ``s = sum d z / sum z^2``; the one to read where a method sets no scale, as t-SNE. It
    is undefined, and an error, for a map of one place.
    ``"raw"``: ``sqrt(sum (d - z)^2)``. ``O(n^2)`` time beyond the distances, ``O(n)`` memory.

    >>> kruskal_stress([[0.0], [1.0], [3.0]], [[0.0], [1.0], [3.0]])
    0.0
    >>> round(kruskal_stress([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]]), 12)
    1.0
    >>> kruskal_stress([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]], kind="scaled")
    0.0
    """
    require_one_of("kind", kind, _KINDS)
    given, mapped = both_sides(X, Z, metric=metric, fewest=2, n_jobs=n_jobs)
    name = f"{kind}_stress"
    return pair_measures([name], given, mapped, n_pairs=None, n_jobs=n_jobs)[name].value


def sammon_stress(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """Sammon's stress, ``sum (d - z)^2 / d / sum d`` over pairs i < j: short distances weigh more.

    Pairs at distance 0 in ``X`` are left out; :func:`~isentropic.quality.assess` says how many. ``O(n^2)``
    time beyond the distances, ``O(n)`` memory.

    >>> sammon_stress([[0.0], [1.0], [3.0]], [[0.0], [1.0], [2.0]])
    0.13888888888888887
    """
    given, mapped = both_sides(X, Z, metric=metric, fewest=2, n_jobs=n_jobs)
    return pair_measures(["sammon_stress"], given, mapped, n_pairs=None, n_jobs=n_jobs)["sammon_stress"].value


def residual_variance(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """``1 - r^2`` with r the correlation of the distances over pairs i < j. ``O(n^2)`` time, ``O(n)`` memory.

    >>> residual_variance([[0.0], [1.0], [3.0]], [[0.0], [1.0], [-2.0]])
    0.75
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    return pair_measures(["residual_variance"], given, mapped, n_pairs=None, n_jobs=n_jobs)[
        "residual_variance"
    ].value


# ---- neighbourhoods ----------------------------------------------------------------------------


def neighborhood_stress(
    X: Any,
    Z: Any,
    n_neighbors: int = 10,
    *,
    n_random: int = 0,
    kind: str = "normalized",
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """Stress of each row's nearest rows in ``X``, and on request of some random ones: of short-range maps.

    ``sqrt(sum_i sum_j (d_ij - z_ij)^2 / sum_i sum_j d_ij^2)``, j over the ``n_neighbors`` nearest of row i
    and ``n_random`` rows drawn for it (after Shi and Gu); ``kind="scaled"`` first scales the map as well as
    possible. ``O(n^2)`` time, ``O(n k)`` memory.

    >>> import numpy as np
    >>> roll = np.linspace(0, 20, 200)
    >>> X = np.column_stack([np.cos(roll), np.sin(roll)]) * (5 + roll[:, None])
    >>> line = np.cumsum(np.r_[0, np.hypot(*np.diff(X, axis=0).T)])[:, None]
    >>> neighborhood_stress(X, line, 2) < 0.01 < kruskal_stress(X, line)
    True
    """
    require_one_of("kind", kind, _KINDS[:2])
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    must_be = f"an integer from 1 to {given.n - 1}, the number of other rows"
    n_neighbors = require_count("n_neighbors", n_neighbors, must_be, most=given.n - 1)
    n_random = require_count("n_random", n_random, "an integer from 0 on", least=0)
    places = sampled_places(given.n, given.n - 1, n_neighbors, n_random, generator(random_state))
    reading = OrderReading(n_neighbors, places=places)
    terms = order_terms(given, mapped, reading=reading, n_jobs=n_jobs)
    found = stress_measures(terms, given, mapped, False, "")
    name = "neighborhood_stress" if kind == "normalized" else "scaled_neighborhood_stress"
    finite, reasons = finite_measures({name: found[name]} if name in found else {})
    if reasons:
        raise UndefinedMeasureError(reasons[0])
    if not finite:
        side = "Z" if found else "X"
        must_be = f"rows of which some differ, or {name} is undefined"
        raise UndefinedMeasureError(message(side, must_be, "rows that are equal to their neighbours"), found)
    return found[name].value


# ---- the Shepard diagram -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShepardPairs:
    """Distances of some pairs of rows, in the data and in the map, in the same order."""

    given: Floats
    mapped: Floats


def shepard_pairs(
    X: Any, Z: Any, *, n_pairs: int = 20_000, metric: Metric = "euclidean", random_state: Any = 0,
    n_jobs: int | None = None,
) -> ShepardPairs:  # fmt: skip
    """Distances for a Shepard diagram: of all pairs if they are no more than ``n_pairs``, else of drawn ones.

    >>> pairs = shepard_pairs([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]])
    >>> pairs.given.tolist(), pairs.mapped.tolist()
    ([1.0, 3.0, 2.0], [2.0, 6.0, 4.0])
    """
    n_pairs = require_count("n_pairs", n_pairs)
    given, mapped = map(in_data_units, both_sides(X, Z, metric=metric, fewest=2, n_jobs=n_jobs))
    if given.n * (given.n - 1) // 2 <= n_pairs:
        upper = np.triu_indices(given.n, 1)
        every = np.arange(given.n)
        return ShepardPairs(given.rows(every)[upper], mapped.rows(every)[upper])
    sample = sampled_pairs(given, mapped, max(n_pairs, FEWEST), random_state)
    return ShepardPairs(sample.given.ravel()[:n_pairs], sample.mapped.ravel()[:n_pairs])
