"""Layouts by near and by drawn rows: PaCMAP and TriMap. They differ in what they draw, and in the cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.runtime import generator, require_memory
from ..._core.state import Array, Number, State, Whole
from ...embedding.pair_distances import Distances
from .drawn_lists import LISTED_BYTES, least_width, local_widths, n_to_list, scaled_nearest
from .neighbor_maps import NeighborEmbedder


@dataclass(frozen=True, slots=True)
class Near:
    """Rows, those near to each by ``d_ij^2 / (s_i s_j)``, and what finds those near to new rows."""

    distances: Distances
    rows: np.ndarray  # (n, k)
    scaled: np.ndarray  # (n, k)
    widths: np.ndarray  # s
    narrowest: float  # the least s that a row may have
    n_listed: int  # neighbours, of which the k are chosen
    seed: int  # of what is drawn for each row
    random: np.random.RandomState  # of what is drawn for all


class DrawnEmbedder(NeighborEmbedder):
    """A map of near rows, chosen by scaled distance, and drawn ones.

    A class says with which of its neighbours the width of a row begins, the mean of three distances, and how
    many fitted rows hold a new one apart.
    """

    _state = State(  # r fitted rows that are drawn for new ones
        _widths=Array("n", above=0),
        _least_width=Number(above=0),
        _n_listed=Whole(1, below="n"),
        _n_nearest=Whole(1, below="n"),
        _far=Array("r", dtype=np.int64, below="n"),
    )
    _first_of_width: int
    _n_held: int

    def _near_of(self, X: np.ndarray, k: int, drawn_bytes: int, advice: str) -> Near:
        """The ``k`` near rows of each, if the memory has room for them and for ``drawn_bytes`` a row."""
        n = len(X)
        n_listed = n_to_list(k, n, self.neighbors)
        needed = n * (drawn_bytes + LISTED_BYTES * n_listed)
        require_memory(needed, f"{type(self).__name__} of {n:,} rows", advice)
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        distances = self._distances_of(X, seed)
        found = self._listed(distances, n_listed, seed)
        narrowest = least_width(found.distances)
        widths = local_widths(found.distances, self._first_of_width, narrowest)
        n_listed = found.indices.shape[1]
        nearest = scaled_nearest(found.indices, found.distances, widths, widths, min(k, n_listed))
        return Near(distances, *nearest, widths, narrowest, n_listed, seed, random)

    def _near_among_fitted(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The near rows of new ones, their scaled distances, and the widths of the new rows."""
        indices, distances = self._listed_among_fitted(X, self._n_listed)
        own = local_widths(distances, self._first_of_width, self._least_width)
        return *scaled_nearest(indices, distances, own, self._widths, self._n_nearest), own

    def _keep_drawn(self, near: Near, Z: np.ndarray, n_steps: int) -> None:
        """The map around 0, and what finds the near and far rows of new ones."""
        self._keep(near.distances, Z - Z.mean(axis=0), n_steps)
        self._widths, self._least_width = near.widths, near.narrowest
        self._n_listed, self._n_nearest = near.n_listed, near.rows.shape[1]
        self._far = np.sort(near.random.permutation(len(Z))[: self._n_held])
