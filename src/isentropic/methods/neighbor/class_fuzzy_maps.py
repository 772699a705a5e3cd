"""Fuzzy neighbour graphs intersected with classes: supervised UMAP, and UMAP that is given classes."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import require_count
from ..._core.state import Double, State
from ..._core.values import Neighbors
from ...affinities import class_intersection, fuzzy_graph
from ...embedding.classes.fitted_classes import PairClasses
from ...embedding.warm_starts import WarmStart
from .fuzzy_maps import FuzzyEmbedder

_NEAR = 2.5  # between two classes, at a weight of 0; as umap-learn has it
_FARTHEST = 700.0  # whose exponential is still a number


class ClassFuzzyEmbedder(PairClasses, FuzzyEmbedder):
    """A fuzzy map in which an edge between two classes keeps ``exp(-2.5 / (1 - weight))`` of its weight."""

    _found_again = (*PairClasses._found_again, *FuzzyEmbedder._found_again)
    _state = State(_apart=Double(0, most=_FARTHEST))

    def _embed_classes(
        self, X: np.ndarray, codes: np.ndarray, weight: float, warm: WarmStart | None = None
    ) -> None:
        """Neighbours, the fuzzy graph, its intersection with the classes, a start, epochs."""
        apart = min(_NEAR / (1.0 - weight), _FARTHEST) if weight < 1 else _FARTHEST
        classes = self._classes_of(X, codes, require_count("n_neighbors", self.n_neighbors))

        def weigh(found: Neighbors) -> csr_array:
            W = fuzzy_graph(found, n_jobs=self.n_jobs)
            if classes.count == 1:  # there is nothing to intersect with: UMAP
                return W
            heads = np.repeat(np.arange(len(X)), np.diff(W.indptr))
            return class_intersection(W, classes.same(heads, W.indices.astype(np.int64)), apart)

        self._embed(X, weigh, partial(self._learn_pairs, X, classes), warm)
        self._apart = apart

    def _weights_of_new(self, X: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if not self._has_classes:
            return weights
        same = self._same_as_new(X, indices.astype(np.int64))
        weights = weights * (same + (1.0 - same) * np.exp(-self._apart))
        return weights / weights.max(axis=1, keepdims=True)
