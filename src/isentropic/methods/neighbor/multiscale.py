"""Maps of all scales: affinities of doubling perplexities, kept from the coarsest to the finest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ..._core.errors import require_number
from ..._core.state import Array, State
from ...affinities import conditional_affinities
from ...optim import Minimum
from ...optim.minimum import Objective
from .perplexity_maps import Listed, PerplexityEmbedder

_LAST = 2  # times as many steps with all scales: no other follows that would go on
CostOf = Callable[[np.ndarray, int], Objective]  # of the mean affinities of so many scales


def doubling_perplexities(n: int, smallest: float = 4) -> list[float]:
    """``smallest``, twice as many, and so on up to about n / 2; of few rows, n / 2 alone.

    >>> doubling_perplexities(150), doubling_perplexities(5)
    ([4.0, 8.0, 16.0, 32.0, 64.0], [2.5])
    """
    count = round(math.log2(n / (2 * smallest))) + 1
    return [float(smallest * 2**h) for h in range(count)] if count > 0 and n > 5 else [max(n / 2, 1.0)]


class MultiscaleEmbedder(PerplexityEmbedder):
    """A map that keeps neighbourhoods of all sizes. Methods differ in their start and cost."""

    _state = State(perplexities_=Array("s", least=1))
    _pair_bytes = 64  # lists of all, the sum of affinities, their mean, and its square forms

    def __init__(
        self,
        smallest=2.0,
        n_components=2,
        *,
        init="pca",
        metric="euclidean",
        neighbors=None,
        max_iter=30,
        tol=1e-6,
        random_state=None,
        n_jobs=None,
    ):
        self.smallest = smallest
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _scales_of(self, X) -> Listed:
        """Rows, lists of all the others, and the perplexities."""
        smallest = require_number("smallest", self.smallest, "a perplexity of at least 1", least=1)
        return self._lists_of(X, partial(doubling_perplexities, smallest=smallest))

    def _refined(self, given: Listed, start: np.ndarray, cost_of: CostOf) -> tuple[Objective, Minimum]:
        """The last cost, and its minimum: L-BFGS with the coarsest scale, with the next one too, and so on.

        ``cost_of`` is the cost for the mean affinities (n, n) of so many scales.
        """
        Z, steps = start, 0
        for count, P in enumerate(self._from_coarse_to_fine(given), 1):
            cost = cost_of(P, count)
            found = self._optimum(cost, Z, times=_LAST if count == len(given.perplexities) else 1)
            Z, steps = found.point, steps + found.n_iter
        return cost, replace(found, n_iter=steps)

    def _from_coarse_to_fine(self, given: Listed) -> Iterator[np.ndarray]:
        """The mean affinities of the largest perplexity, of the two largest ones, and so on."""
        lists = given.lists.distances
        total = np.zeros(lists.shape)
        for count, perplexity in enumerate(given.perplexities[::-1], 1):
            total += conditional_affinities(lists, perplexity, n_jobs=self.n_jobs)[0]
            yield self._dense(given, total / count)

    def _keep_scales(self, given: Listed, cost: Objective, found: Minimum) -> None:
        """The map, its cost and its perplexities."""
        self._keep_map(given, found.point, found.n_iter)
        self.perplexities_ = given.perplexities.copy()
        self.kl_divergence_ = max(cost(self.embedding_)[0], 0.0)
