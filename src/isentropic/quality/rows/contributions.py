"""What :func:`assess` adds to the measures of ranks, all of it as (X, Z, sampled_rows, options) -> measures.

``sampled_rows`` is None for all rows. Measures that the rows leave undefined are an error whose text says
why, and which brings along those that are defined.
"""

from __future__ import annotations

from typing import Any, cast

from ..._core.errors import UndefinedMeasureError, message
from ..._core.values import DistanceRows, Floats, Integers
from ..labels import label_measures
from ..measures import CORRELATED, STRESSES, Measure, kinds
from ..pairs.pairwise import are_undefined, finite_measures, pair_groups
from ..ranks.neighborhoods import (
    konig_measures,
    order_terms,
    product_measures,
    rank_error_measures,
    stress_measures,
)
from ..ranks.rank_sums import OrderReading, thinned

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
    """Tau, rho, r and residual variance, then the stresses; of drawn pairs where rows are sampled.

    Where memory is short, correlations alone are of drawn pairs.
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
    rows = None if sampled_rows is None else thinned(sampled_rows)
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
