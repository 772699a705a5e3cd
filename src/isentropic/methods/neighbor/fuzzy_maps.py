"""Maps of fuzzy neighbour graphs: UMAP, and those that weigh its edges otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import require_count, require_number
from ..._core.runtime import generator, require_memory
from ..._core.state import Array, Number, State, StateError, Whole
from ..._core.values import Neighbors
from ...affinities import fitted_curve, memberships
from ...embedding.spectral_start import spectral_start, wide
from ...embedding.warm_starts import WarmStart
from ...kernels.rows.row_costs import FUZZY
from ...neighbors import component_labels, warn_of_parts
from ...objectives import FuzzyMoves, mean_edge_cost
from ...objectives.fuzzy import SOFTENING
from ...optim import batch_epochs
from .neighbor_maps import NeighborEmbedder, settled_among

_FEW_ROWS, _EPOCHS_OF_FEW, _EPOCHS_OF_MANY = 10_000, 300, 200
_NOISE = 1e-3  # of a start, in units: rows at one place must be able to part
_MOST_PUSH = 1000  # far above it, new rows would be pushed out of the map
_BEGUN = 0.75  # the share of the epochs that an earlier map has behind it: steps are short by then
_WIDTHS = (5.0, 200.0)  # of maps
_SAMPLE = 512  # fitted rows that push a new one
_EDGE_BYTES = 110  # of a listed neighbour: weights and the graph of both directions, in both precisions

# Curves in units of the spread: b is 0.8 to 2, a 0.1 to 2. Far beyond, powers of distances are no numbers.
_STEEPEST, _FAR_OFF = 10.0, 1e6


class FuzzyEmbedder(NeighborEmbedder):
    """A map whose fuzzy neighbour graph is as near as possible to a given one.

    A method stores, in its constructor or for all of its kind, ``n_neighbors``, ``min_dist``, ``spread``,
    ``n_epochs`` and ``negative_sample_rate`` beside what its family asks for.
    """

    _state = State(  # r fitted rows push new ones
        cost_=Number(0),
        a_=Number(above=0),
        b_=Number(above=0, most=_STEEPEST),
        _spread=Number(1e-50, most=1e50),  # as fitted_curve takes it
        _push=Number(0),
        _n_nearest=Whole(1, below="n"),
        _far=Array("r", dtype=np.int64, below="n"),
    )
    _starts = ("spectral", "pca", "random")

    def _embed(
        self,
        X: np.ndarray,
        weigh: Callable[[Neighbors], csr_array],
        learn: Callable[[int], None] = lambda k: None,
        warm: WarmStart | None = None,
    ) -> None:
        """Neighbours, the fuzzy graph that ``weigh`` makes of them, a start, epochs; the map is kept.

        ``learn`` is told the number of neighbours just before. From a ``warm`` start the epochs are those of
        the last quarter, in which all pushes count.
        """
        k = require_count("n_neighbors", self.n_neighbors)
        a, b = fitted_curve(self.min_dist, self.spread)
        spread = float(self.spread)
        curve = _in_spreads(a, b, spread)
        must_be = f"a number of at least 0 and at most {_MOST_PUSH}"
        push = require_number("negative_sample_rate", self.negative_sample_rate, must_be, most=_MOST_PUSH)
        n_epochs = self._checked_epochs(X, warm)
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        n = len(X)
        require_memory(_EDGE_BYTES * n * min(k, n), f"UMAP of {n:,} rows", "Take fewer neighbours.")
        distances = self._distances_of(X, seed)
        found = self._listed(distances, k, seed)
        W = weigh(found)
        warn_of_parts(component_labels(W.indptr, W.indices, W.data > 0))
        start = self._start_of(W, distances, random, warm)
        begun = 0.0 if warm is None else _BEGUN
        moves = FuzzyMoves(W, curve, push=push, n_epochs=n_epochs, seed=seed, begun=begun)
        Z = batch_epochs(moves, start, n_epochs, n_jobs=self.n_jobs)
        learn(found.indices.shape[1])
        self._keep(distances, (Z - Z.mean(axis=0)) * spread, n_epochs)
        self.a_, self.b_, self._spread, self._push = a, b, spread, push
        self._n_nearest = found.indices.shape[1]
        self._far = np.sort(random.permutation(n)[:_SAMPLE])
        self.cost_ = mean_edge_cost(W, curve, self.embedding_ / spread)

    def _checked_epochs(self, X: np.ndarray, warm: WarmStart | None) -> int:
        epochs = _EPOCHS_OF_FEW if len(X) <= _FEW_ROWS else _EPOCHS_OF_MANY
        if self.n_epochs is not None:
            epochs = require_count("n_epochs", self.n_epochs, "None or a number of epochs", least=0)
        if warm is None:
            return epochs
        return round(epochs * (1.0 - _BEGUN)) if warm.steps is None else warm.steps

    def _start_of(
        self, W, distances, random: np.random.RandomState, warm: WarmStart | None = None
    ) -> np.ndarray:
        """10 units wide, with a little noise; an earlier map as it is."""
        if warm is not None:
            Z = self._start(distances, random, warm) / float(self.spread)
            return Z if warm.steps is not None or _is_map(Z) else wide(Z)
        if isinstance(self.init, str) and self.init == "spectral":
            Z = spectral_start(W, self.n_components, lambda: self._start(distances, random))
        else:
            Z = wide(self._start(distances, random))
        return Z + _NOISE * random.standard_normal(Z.shape)

    def _weights_of_new(self, X: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weights of new rows to their neighbours: what the distances alone give."""
        return weights

    def _place(self, X: np.ndarray) -> np.ndarray:
        indices, near = self._listed_among_fitted(X, self._n_nearest)
        weights = self._weights_of_new(X, indices, memberships(near, n_jobs=self.n_jobs))
        Z = self.embedding_ / self._spread
        shape = np.array([*_in_spreads(self.a_, self.b_, self._spread), self._push, SOFTENING])
        return settled_among(FUZZY, Z, indices, weights, self._far, shape, self.n_jobs) * self._spread

    def _require_sound(self) -> None:
        super()._require_sound()
        if not 1.0 / _FAR_OFF <= _in_spreads(self.a_, self.b_, self._spread)[0] <= _FAR_OFF:
            raise StateError("a_", "must be that of a curve of this spread")


def _is_map(Z: np.ndarray) -> bool:
    """Whether it is as wide as maps of this kind may be, in units; that of another method may not."""
    narrowest, widest = _WIDTHS
    return narrowest <= float(np.ptp(Z, axis=0).max()) <= widest


def _in_spreads(a: float, b: float, spread: float) -> tuple[float, float]:
    """The curve of a map in units of the spread."""
    return a * spread ** (2.0 * b), b
