"""What :func:`assess` adds to the measures of ranks, all of it as (X, Z, sampled_rows, options) -> measures.

``sampled_rows`` is None for all rows. Measures that the rows leave undefined are an error whose text says
why, and which brings along those that are defined.
"""

from __future__ import annotations

from typing import Any

from .._errors import UndefinedMeasureError, message
from .._values import DistanceRows, Integers
from .labels import label_measures
from .measures import Measure, kinds
from .neighborhoods import Konig, NeighborhoodStress, RankError, TopologicalProduct, count_rows, read_rows
from .pairwise import are_undefined, pair_measures
from .passes import thinned

_NEED_DISTANCE = ("neighborhood_stress", "scaled_neighborhood_stress", "topological_product")


def correlation_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """Tau, rho, r and residual variance; of drawn pairs where rows are sampled, or memory is short."""
    names = [kind.name for kind in kinds("pair order", "pair moments")]
    return pair_measures(names, X, Z, draw=sampled_rows is not None, random_state=random_state, n_jobs=n_jobs)


def stress_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """The stresses over all pairs; over drawn ones where rows are sampled."""
    n_pairs = None if sampled_rows is None else "auto"
    names = [kind.name for kind in kinds("pair stress")]
    return pair_measures(names, X, Z, n_pairs=n_pairs, draw=True, random_state=random_state, n_jobs=n_jobs)


def topology_measures(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    n_neighbors: int = 10,
    n_jobs: int | None = None,
    **_: Any,
) -> dict[str, Measure]:
    """Stress of neighbourhoods, topological product, König's measure, error of Retained-Structure.

    Where rows are sampled, of at most 1,000 of them.
    """
    rows = None if sampled_rows is None else thinned(sampled_rows)
    n = count_rows(X, rows)
    readers = (NeighborhoodStress(n, n_neighbors), TopologicalProduct(n), Konig(n), RankError(n))
    found = read_rows(readers, X, Z, rows, n_jobs=n_jobs)
    undefined = [name for name in _NEED_DISTANCE if name not in found]
    if undefined:
        must_be = f"rows of which some neighbours differ, or {are_undefined(undefined)}"
        raise UndefinedMeasureError(message("X and Z", must_be, "rows equal to their neighbours"), found)
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


OF_ALL_PAIRS = (correlation_measures, stress_measures)
