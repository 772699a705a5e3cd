"""Stochastic neighbour embeddings: Gaussian affinities of given perplexity, and a map that keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..._core.errors import require_count, require_number
from ..._core.runtime import generator, require_memory, row_blocks
from ..._core.state import Array, Double, Number, State, Text, Whole
from ..._core.values import Neighbors
from ...affinities import checked_perplexity, conditional_affinities, listed_for
from ...embedding.pair_distances import Distances
from ...embedding.warm_starts import WarmStart
from ...kernels._jit import threads
from ...kernels.rows.row_costs import GAUSSIANS, STUDENT, STUDENT_FIELD
from ...kernels.rows.row_descent import settle_rows
from ...objectives import Field
from ...optim import Minimum, lbfgs
from .neighbor_maps import NeighborEmbedder

_PLACED_AT_ONCE = 256  # new rows
_MARGIN = 32  # nodes of a field around the map
MOST_DOF = 1e6  # degrees of freedom: a Gaussian, to six digits; many more overflow


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows, the lists of their neighbours, and the perplexities that affinities to these shall have."""

    distances: Distances
    lists: Neighbors
    perplexities: np.ndarray
    random: np.random.RandomState
    warm: WarmStart | None = None  # the earlier map from which the descent goes on


class PerplexityEmbedder(NeighborEmbedder):
    """A map that keeps affinities of given perplexity; new rows go down their own divergence."""

    _state = State(  # s perplexities
        kl_divergence_=Number(),
        _perplexities=Array("s", least=1),
        _k=Whole(1, below="n"),
    )
    _pair_bytes = 40  # of lists, affinities and forces, where the descent holds all pairs

    def _lists_of(self, X, perplexities: Callable[[int], list[float]] | None = None, *, warm=None) -> Listed:
        """Rows and lists, as long as the largest perplexity needs them; ``warm`` is an earlier map.

        ``perplexities`` are those for a number of rows, where there is no parameter for one.
        """
        X = self._checked_rows(X)
        n, random = len(X), generator(self.random_state)
        if self._pair_bytes:
            require_memory(self._pair_bytes * n * n, f"All pairs of {n:,} rows", "Take TSNE.")
        seed = int(random.randint(2**31 - 1))
        chosen = [checked_perplexity(self.perplexity, n)] if perplexities is None else perplexities(n)
        distances = self._distances_of(X, seed)
        lists = self._listed(distances, listed_for(max(chosen), n), seed)
        return Listed(distances, lists, np.array(chosen, float), random, warm)

    def _affinities(self, given: Listed) -> np.ndarray:
        """Conditional affinities of the one perplexity: (n, k), rows of sum 1."""
        (perplexity,) = given.perplexities
        return conditional_affinities(given.lists.distances, perplexity, n_jobs=self.n_jobs)[0]

    def _keep_map(self, given: Listed, Z: np.ndarray, n_iter: int) -> None:
        """The map, and what places new rows: after the descent, or a refit that fails would mix two fits."""
        self._keep(given.distances, Z, n_iter)
        self._perplexities, self._k = given.perplexities, given.lists.indices.shape[1]

    def _dense(self, given: Listed, P: np.ndarray) -> np.ndarray:
        """Affinities of lists as a square array."""
        square = np.zeros((len(P), len(P)))
        np.put_along_axis(square, given.lists.indices.astype(np.int64), P, axis=1)
        return square

    def _optimum(self, objective, start: np.ndarray, *, times: int = 1) -> Minimum:
        """Where L-BFGS ends, after at most so many times ``max_iter`` steps."""
        max_iter = require_count("max_iter", self.max_iter, "a number of steps", least=0)
        tol = require_number("tol", self.tol, "a number from 0 to below 1", below=1)
        return lbfgs(objective, start, max_iter=times * max_iter, tol=tol)

    def _scaled_start(self, given: Listed, spread: float) -> np.ndarray:
        """The start, its widest coordinate with this standard deviation; an earlier map as large as it is."""
        Z = self._start(given.distances, given.random, given.warm)
        if given.warm is not None:
            return Z
        Z = Z / np.abs(Z).max()
        Z -= Z.mean(axis=0)
        return Z * (spread / Z.std(axis=0).max())

    def _place(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), self._n_features_out))
        settle = self._settling()
        for block in row_blocks(len(X), "placing rows", size=_PLACED_AT_ONCE):
            indices, distances = self._listed_among_fitted(X[block], self._k)
            weights = self._averaged(distances)
            near = self.embedding_[indices]
            starts = np.stack((near[:, 0], np.einsum("ij,ijc->ic", weights, near)), axis=1)
            with threads(self.n_jobs):
                out[block] = settle(starts, indices.astype(np.int64), weights)
        return out

    def _averaged(self, lists: np.ndarray) -> np.ndarray:
        """The mean of the affinities of all perplexities."""
        mean = np.zeros(lists.shape)
        for perplexity in self._perplexities:
            mean += conditional_affinities(lists, perplexity, n_jobs=self.n_jobs)[0]
        return mean / len(self._perplexities)

    def _settling(self):
        """A function of starts (b, s, d), neighbours and weights (b, k) that gives the places of new rows."""
        raise NotImplementedError


class GaussianEmbedder(PerplexityEmbedder):
    """One whose map has Gaussian weights: SNE and multiscale SNE. All pairs."""

    _state = State(_precisions=Array("s", above=0))

    def _settling(self):
        return self._settled_by_gaussians

    def _settled_by_gaussians(self, starts, near, weights) -> np.ndarray:
        far = np.empty((len(starts), 0), np.int64)
        return settle_rows(GAUSSIANS, starts, self.embedding_, near, weights, far, self._precisions)


class StudentEmbedder(PerplexityEmbedder):
    """One whose map has Student weights: t-SNE, and those that differ in affinities or in the descent."""

    _state = State(repulsion_=Text("exact", "fields"), _dof=Double(above=0, most=MOST_DOF))

    def _settling(self):
        if self.repulsion_ == "exact":
            return self._settled_among_all
        field = Field((self._dof + 1) / 2)
        plane = np.zeros((len(self.embedding_), 2), np.float32)
        plane[:, : self._n_features_out] = self.embedding_ / np.sqrt(self._dof)
        with threads(self.n_jobs):
            nodes, origin, spacing = field.nodes(plane, _MARGIN)
        header = [field.power, *origin.astype(float), spacing, *nodes.shape]
        return partial(self._settled_in_field, np.concatenate([header, nodes.ravel()]))

    def _settled_among_all(self, starts, near, weights) -> np.ndarray:
        far = np.empty((len(starts), 0), np.int64)
        shape = np.array([self._dof])
        return settle_rows(STUDENT, starts, self.embedding_, near, weights, far, shape)

    def _settled_in_field(self, shape, starts, near, weights) -> np.ndarray:
        far, unit = np.empty((len(starts), 0), np.int64), np.sqrt(self._dof)
        Z = self.embedding_ / unit
        return settle_rows(STUDENT_FIELD, starts / unit, Z, near, weights, far, shape) * unit
