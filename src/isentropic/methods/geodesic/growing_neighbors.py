"""ISOMAP over growing neighbourhoods: which k, and where the first short circuit comes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..._core.errors import require_count, require_one_of
from ..._core.runtime import generator
from ..._core.values import Knn, Radius
from ...distances import Metric
from ...linalg import procrustes_correlation, residual_variance
from ...neighbors import checked_table
from ...quality import Curves
from ...quality.inputs import both_sides
from ...quality.ranks.rank_sums import rank_sums
from .neighborhood_paths import checked_values, path_steps
from .path_values import Path

_RANKED = 500  # rows that are drawn for the area under R_NX: it is known to about 0.01 then


def isomap_path(
    X: Any,
    n_neighbors: Sequence[int | Knn | Radius] = (5, 6, 7, 8, 10, 12, 14, 17, 20, 24),
    *,
    n_components: int = 2,
    metric: Metric = "euclidean",
    on_disconnected: str = "bridge",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Path:
    """ISOMAP for each size of the neighbourhood: the maps, and how geodesics change from one to the next.

    Each map is that of ``Isomap(n_neighbors=k).fit(X)``. Neighbours are searched once, for the largest; the
    eigenvectors of one map start the iteration for the next; the order of the rows in which shortest paths
    are searched is found once, and each pair is searched from one end.

    Cost: ``O(n^2 k)`` time for each value, some 0.5 of a fit, and ``4.3 n^2`` bytes.

    Parameters
    ----------
    X : array of shape (n, m), or (n, n) with ``metric="precomputed"``
    n_neighbors : sequence of int, or of Radius
        Sizes of the neighbourhood; the path goes upwards. More than 10,000 rows are searched approximately,
        and lists then are the beginnings of the longest, which a fit would have searched by itself.
    n_components : int
        Dimension of the maps.
    metric : str or callable
        As of :class:`~isentropic.Isomap`.
    on_disconnected : {"bridge", "raise"}
        What to do about a graph in parts: join them by their shortest edges, or refuse.
    random_state : int, RandomState or None
        Of approximate neighbours, and of the 500 rows from which ``rnx_auc`` is estimated if there are more.
    n_jobs : int, optional
        Threads. The result does not depend on them.

    Returns
    -------
    Path

    References
    ----------
    Balasubramanian and Schwartz (2002). Choo et al. (2010).

    Examples
    --------
    >>> from isentropic import datasets, isomap_path
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> path = isomap_path(roll.X, [6, 8, 10])
    >>> path.neighbors, path.short_circuits
    ((6, 8, 10), ())
    >>> bool(path.residual_variance.max() < 0.01)
    True
    """
    values = checked_values(n_neighbors)
    require_count("n_components", n_components)
    require_one_of("on_disconnected", on_disconnected, ("bridge", "raise"))
    X = checked_table(X, values[-1], metric, fewest=3)
    options: dict[str, Any] = {"metric": metric, "on_disconnected": on_disconnected, "n_jobs": n_jobs}
    found = []
    for step in path_steps(X, values, n_components, random_state=random_state, **options):
        variance = residual_variance(step.geodesics, step.in_order.embedding, n_jobs=n_jobs)
        found.append((step.graph.n_components, float(step.geodesics.sum()), variance, step.scaling))
    parts, sums, variances, scalings = zip(*found, strict=True)
    maps = tuple(scaling.embedding for scaling in scalings)
    pairs = pairwise(maps)
    return Path(
        neighbors=tuple(value if isinstance(value, Radius) else value.k for value in values),
        embeddings=maps,
        eigenvalues=np.array([scaling.eigenvalues for scaling in scalings]),
        residual_variance=np.array(variances),
        rnx_auc=np.array([_area(X, Z, metric, random_state, n_jobs) for Z in maps]),
        geodesic_sum=np.array(sums),
        stability=np.array([np.nan, *(procrustes_correlation(*pair) for pair in pairs)]),
        euclidean_defect=np.array([scaling.euclidean_defect for scaling in scalings]),
        n_parts=np.array(parts),
    )


def _area(X: np.ndarray, Z: np.ndarray, metric: Metric, random_state: Any, n_jobs: int | None) -> float:
    """The area under R_NX, of all rows or estimated from those that are drawn."""
    drawn = np.sort(generator(random_state).permutation(len(X))[:_RANKED])
    return Curves.of(
        rank_sums(*both_sides(X, Z, metric=metric, n_jobs=n_jobs), 1, drawn, n_jobs=n_jobs)
    ).rnx_auc
