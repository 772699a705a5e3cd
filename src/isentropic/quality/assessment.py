"""``assess``: every quality measure of a map at once, from one pass over the pairs of rows.

Measures beside those of ranks have the form (X, Z, sampled_rows, options) -> measures, with
``sampled_rows`` of None for all rows. Measures that the rows leave undefined raise an error whose text says
why, and which brings along those that are defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import numpy as np

from .._core.arguments import unmasked
from .._core.errors import InvalidInputError, UndefinedMeasureError, message, require, require_one_of
from .._core.runtime import config_context, generator
from .._core.values import DistanceRows, Floats, Integers
from ..distances import Metric, all_equal
from .class_measures import label_measures
from .inputs import both_sides
from .measures import CORRELATED, MEASURES, STRESSES, Measure, kinds
from .pairwise import are_undefined, finite_measures, pair_groups
from .quality_result import Quality, Ties, local_area
from .ranks.rank_curves import Curves, rank_weight, retained_share, row_values
from .ranks.rank_sums import OrderReading, RankSums, TieSums, thin_rows, tie_sums
from .ranks.topology import (
    konig_measures,
    order_terms,
    product_measures,
    rank_error_measures,
    stress_measures,
)
from .sampling import (
    Sample,
    checked_neighbors,
    half_widths,
    plausible_borders,
    sampled_rank_sums,
    summary_errors,
)

# What adds measures to those of ranks: what the table of measures names as their source. Each is called as
# contribute(X, Z, sampled_rows, y=, n_neighbors=, orders=, random_state=, n_jobs=) with two DistanceRows, the
# numbers of the rows that were drawn, or None for all, and what the pass over all rows has read off their
# orders, or None. What it cannot compute it raises as InvalidInputError: each line of the reason becomes a
# note. An UndefinedMeasureError brings along what is defined.
Contribution = Callable[..., Mapping[str, Measure]]


def contributions() -> list[Contribution]:
    """Functions that contribute measures: those of pairs of rows, then every other source of the table."""
    named = dict.fromkeys(kind.source for kind in kinds() if ":" in kind.source)
    targets = (source.split(":") for source in named)
    return [distance_measures, *(getattr(import_module(module), name) for module, name in targets)]


def assess(
    X: Any,
    Z: Any,
    y: Any = None,
    *,
    metric: Metric = "euclidean",
    n_neighbors: Any = None,
    sample: Sample = "auto",
    budget: int | None = None,
    measures: str = "all",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Quality:
    """Every measure of the map ``Z`` of ``X``, the curves for all k, and scores of every row.

    One pass ranks the neighbours of each row on both sides, adds them to what each k needs, and forgets
    them: ``O(n^2 m)`` time for n rows of m columns, and ``O(n)`` memory.

    Parameters
    ----------
    X : array (n, m), square or condensed array, or DistanceRows
        The data, or with ``metric="precomputed"`` all distances between them, which may be geodesic.
    Z : array (n, d) or DistanceRows
        The map: the same rows in the same order. Distances in it are Euclidean.
    y : array (n,), optional
        Classes, for the measures that need them.
    metric : str or callable
        Of ``X``: any metric of ``sklearn.metrics.pairwise_distances``.
    n_neighbors : int or several, optional
        The values of k at which rows have scores and ``measures`` holds points of the curves. Default: 10,
        30 and 100, as far as they are below n/2; of fewer than 31 rows a third of the others.
    sample : "auto", None or int
        How many rows are compared with all others: None for all of them, or a number of rows drawn at
        random, which gives estimates with 95% intervals. ``"auto"`` compares all rows up to 30,000; of
        more rows it draws 4,000, and as many more as make the intervals of trustworthiness and continuity
        at every chosen k at most 0.01 wide. Measures of topology and ties, which have no such aim, read
        at most 1,000 of the drawn rows.
    budget : int, optional
        Bytes that the computation may take; default: the memory budget in force. Decides also
        whether measures over all pairs of rows are exact.
    measures : "all" or "ranks"
        ``"ranks"`` leaves out what is not computed from ranks of neighbours.
    random_state : int, RandomState or None
        Of the drawn rows. None is a fixed seed.
    n_jobs : int or None
        Threads. The result does not depend on them, bit for bit.

    Returns
    -------
    Quality

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic.quality import assess
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> quality = assess(X, X[:, :2], n_neighbors=10)
    >>> quality.method
    'exact: all 100 rows against all others'
    >>> round(quality.measures["trustworthiness(10)"].value, 3)
    0.874
    >>> quality.false_neighbors.shape  # row by row: 1 is worst
    (100, 1)
    """
    require_one_of("measures", measures, ("all", "ranks"))
    with nullcontext() if budget is None else config_context(memory_limit=budget, memory_in_all=False):
        given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
        ks = checked_neighbors(n_neighbors, given.n)
        if y is not None:
            y = unmasked("y", y)
            require(np.shape(y) == (given.n,), "y", f"one class for each of {given.n} rows", np.shape(y))
        seed = int(generator(random_state).randint(2**31))
        reading = OrderReading(ks[0]) if measures == "all" else None
        found = sampled_rank_sums(given, mapped, ks, sample, seed, n_jobs, reading)
        quality = _of_ranks(found, ks, tie_sums(given, mapped, found, ks, n_jobs=n_jobs), given, mapped)
        if measures == "ranks":
            return quality
        rows = None if found.exact else found.rows
        added, notes = _contribute(
            given, mapped, rows, y=y, n_neighbors=ks[0], orders=found.orders, random_state=seed, n_jobs=n_jobs
        )
    return replace(quality, measures={**quality.measures, **added}, notes=(*quality.notes, *notes))


def _contribute(
    X: DistanceRows, Z: DistanceRows, rows: Integers | None, **options: Any
) -> tuple[dict[str, Measure], list[str]]:
    found: dict[str, Measure] = {}
    notes = []
    for contribute in contributions():
        try:
            found.update(contribute(X, Z, rows, **options))
        except InvalidInputError as error:
            found.update(getattr(error, "defined", {}))
            notes.extend(str(error).splitlines())
    return found, notes


def _of_ranks(
    found: RankSums, ks: tuple[int, ...], tied: TieSums, X: DistanceRows, Z: DistanceRows
) -> Quality:
    curves = Curves.of(found)
    at = np.searchsorted(found.ks, ks)
    rows = row_values(found)
    widths = {} if found.exact else half_widths(found)
    quality = Quality(
        n=found.n,
        metric=X.name,
        n_neighbors=ks,
        curves=curves,
        measures={},
        rows=found.rows,
        false_neighbors=1.0 - rows["trustworthiness"][:, at],
        tears=1.0 - rows["continuity"][:, at],
        near_neighbors=rows["near_share"][:, at],
        ties=_ties(found, ks, tied),
        grid=np.empty(0, np.int64) if found.exact else found.ks,
        half_widths=widths,
        notes=tuple(
            f"All rows of {name} are equal: ranks there mean nothing."
            for name, side in (("X", X), ("Z", Z))
            if all_equal(side)
        ),
    )
    local = {"rnx_local": local_area(quality)}
    return replace(quality, measures={**_points(quality), **local, **_summaries(found, curves)})


def _points(quality: Quality) -> dict[str, Measure]:
    """The points of the curves at every chosen k."""
    return {
        f"{name}({k})": measure
        for k in quality.n_neighbors
        for name, measure in quality.at(k).items()
        if MEASURES[name].is_reported
    }


def _summaries(found: RankSums, curves: Curves) -> dict[str, Measure]:
    """Measures that summarize a curve, with an interval unless exact."""
    borders = np.array([curves.k_max]) if found.exact else plausible_borders(found, curves)
    errors = {} if found.exact else summary_errors(found, curves, borders)
    between = f" (of all rows between {borders[0]} and {borders[-1]}, at 95%)" if len(borders) > 1 else ""
    greatest = f"{curves.k_max}, where LCMC is greatest{between}"
    notes = {"q_local": f"k up to {greatest}", "q_global": f"k from {greatest}"}
    out = {}
    for kind in kinds("area"):
        measure = kind.measure(getattr(curves, kind.name), notes.get(kind.name, ""))
        if not found.exact:
            below, above = errors.get(kind.name, (math.inf, math.inf))  # unknown: all that is possible
            least, most = kind.range
            low, high = max(measure.value - below, least), min(measure.value + above, most)
            measure = replace(measure, low=low, high=high)
        out[kind.name] = measure
    return out


def _ties(found: RankSums, ks: tuple[int, ...], tied: TieSums) -> Ties:
    weights = len(found.rows) * rank_weight(found.n, np.array(ks))[:, None]
    retained = retained_share(tied.extremes, weights).tolist()
    share = tied.shared / (len(found.rows) * (found.n - 1))
    return Ties(
        share_X=float(share[0]),
        share_Z=float(share[1]),
        trustworthiness=tuple((worst, best) for best, worst, _, _ in retained),
        continuity=tuple((worst, best) for _, _, best, worst in retained),
    )


# ---- measures by what they read ------------------------------------------------------------------


_NEED_DISTANCE = ("neighborhood_stress", "scaled_neighborhood_stress", "topological_product")


def distance_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """Tau, rho, r and residual variance, then the stresses; of sampled pairs where rows are sampled.

    Where memory is short, correlations alone are of sampled pairs.
    """
    groups = pair_groups(
        [kind.name for kind in kinds(*CORRELATED)],
        [kind.name for kind in kinds(*STRESSES)],
        X,
        Z,
        draw=sampled_rows is not None,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    found: dict[str, Measure] = {}
    reasons = []
    for of_group in groups:
        try:
            found.update(of_group())
        except UndefinedMeasureError as error:
            found.update(cast(dict[str, Measure], error.defined))
            reasons.append(str(error))
    if reasons:
        raise UndefinedMeasureError("\n".join(reasons), found)
    return found


def topology_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    n_neighbors: int = 10,
    orders: Floats | None = None,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """Stress of neighbourhoods, topological product, König's measure, error of Retained-Structure.

    From ``orders``, where a pass over all rows has read them. Of sampled rows, at most 1,000 are read.
    """
    sampled, reading = sampled_rows is not None, OrderReading(n_neighbors)
    rows = None if sampled_rows is None else thin_rows(sampled_rows)
    terms = order_terms(X, Z, rows, reading=reading, n_jobs=n_jobs) if orders is None else orders
    found = {
        **stress_measures(terms, X, Z, sampled, f"{n_neighbors} neighbours"),
        **product_measures(terms, X.n, sampled),
        **konig_measures(terms, X.n, sampled, reading),
        **rank_error_measures(terms, X.n, sampled),
    }
    undefined = [name for name in _NEED_DISTANCE if name not in found]
    found, reasons = finite_measures(found)
    if undefined:
        must_be = f"rows of which some neighbours differ, or {are_undefined(undefined)}"
        reasons.append(message("X and Z", must_be, "rows equal to their neighbours"))
    if reasons:
        raise UndefinedMeasureError("\n".join(reasons), found)
    return found


def class_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    y: Any = None,
    n_neighbors: int = 10,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """Silhouette, accuracy and kappa of the map; nothing without classes."""
    if y is None:
        return {}
    return label_measures(Z, y, sampled_rows, n_neighbors=n_neighbors, n_jobs=n_jobs)
