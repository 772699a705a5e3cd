"""How well the distances of a map follow those of the data: tau, rho and r over the pairs of rows i < j.

Exact for all pairs, or estimated from drawn pairs with a 95% interval.
"""

from __future__ import annotations

from typing import Any

from ...distances import Metric
from ..inputs import both_sides
from ..measures import Measure
from .pairwise import pair_measures


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
        Of the drawn pairs. None is a fixed seed.
    n_jobs : int or None
        Threads. The result does not depend on them.

    Returns
    -------
    Measure
        With ``value`` and, from drawn pairs, ``low`` and ``high``: the 95% interval.

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
