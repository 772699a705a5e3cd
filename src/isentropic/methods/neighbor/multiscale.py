"""Maps of all scales: affinities of doubling perplexities, kept from the coarsest to the finest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..._core.specs import Array
from ..._core.state import Sub
from ..._core.values import Neighbors
from ...affinities import conditional_affinities
from ...distances import LARGEST
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
from ...embedding.part import Part
from ...kernels._jit import threads
from ...kernels.rows.row_costs import GAUSSIANS
from ...kernels.rows.row_descent import settle_rows
from ...optim import Minimum, lbfgs
from ...optim.minimum import Objective
from .student import PerplexityAffinities, starts_among

PAIR_BYTES = 64  # lists of all, the sum of affinities, their mean, and its square forms
_LAST = 2  # times as many steps with all scales: no other follows that would go on
CostOf = Callable[[np.ndarray, int], Objective]  # of the mean affinities of so many scales


@dataclass(frozen=True, eq=False)
class GaussianLayout(Part):
    """An embedding with the mean of Gaussian weights of some precisions: SNE and multiscale SNE."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    precisions: Annotated[np.ndarray, Array("s", above=0)]

    def optimize(self, rows: np.ndarray, P: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows by damped Newton steps from the nearest row, or from the mean."""
        starts, near = starts_among(self.Z, rows, P), rows.astype(np.int64)
        far = np.empty((len(starts), 0), np.int64)
        with threads(n_jobs):
            return settle_rows(GAUSSIANS, starts, self.Z, near, P, far, self.precisions)


class GaussianMap(RowOptimizer):
    """The out-of-sample map of SNE and multiscale SNE."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[PerplexityAffinities, Sub(PerplexityAffinities)]
    layout: Annotated[GaussianLayout, Sub(GaussianLayout)]


def doubling_perplexities(n: int, smallest: float = 4) -> list[float]:
    """``smallest``, twice as many, and so on up to about n / 2; of few rows, n / 2 alone.

    >>> doubling_perplexities(150), doubling_perplexities(5)
    ([4.0, 8.0, 16.0, 32.0, 64.0], [2.5])
    """
    count = round(math.log2(n / (2 * smallest))) + 1
    return [float(smallest * 2**h) for h in range(count)] if count > 0 and n > 5 else [max(n / 2, 1.0)]


def dense(knn: Neighbors, P: np.ndarray) -> np.ndarray:
    """Affinities of lists as a square array."""
    square = np.zeros((len(P), len(P)))
    np.put_along_axis(square, knn.indices.astype(np.int64), P, axis=1)
    return square


def coarse_to_fine(
    knn: Neighbors,
    perplexities: np.ndarray,
    start: np.ndarray,
    cost_of: CostOf,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
) -> tuple[Objective, Minimum]:
    """The last cost, and its minimum: L-BFGS with the coarsest scale, with the next one too, and so on.

    ``cost_of`` is the cost for the mean affinities (n, n) of so many scales.
    """
    Z, steps = start, 0
    for count, P in enumerate(_mean_affinities(knn, perplexities, n_jobs), 1):
        cost = cost_of(P, count)
        times = _LAST if count == len(perplexities) else 1
        found = lbfgs(cost, Z, max_iter=times * max_iter, tol=tol)
        Z, steps = found.point, steps + found.n_iter
    return cost, replace(found, n_iter=steps)


def _mean_affinities(knn: Neighbors, perplexities: np.ndarray, n_jobs: int | None) -> Iterator[np.ndarray]:
    """The mean affinities of the largest perplexity, of the two largest ones, and so on."""
    total = np.zeros(knn.distances.shape)
    for count, perplexity in enumerate(perplexities[::-1], 1):
        total += conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0]
        yield dense(knn, total / count)
