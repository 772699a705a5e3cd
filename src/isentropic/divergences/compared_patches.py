"""Patches of a table as one value: what compares two of them, and how new rows join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._core.runtime import row_blocks
from .forms import Gaussians
from .formulas import EDGE_DIVERGENCES
from .patches import RowProducts, patch_gaussians, patch_members
from .regularization import Regularization
from .weights import checked_weights

_NEW_AT_ONCE = 64  # new rows whose patches, and those of their neighbours, are held together


@dataclass(frozen=True, slots=True)
class Patches:
    """Rows with their neighbours, a Gaussian for each, and the divergence between two of these."""

    X: np.ndarray  # (n, m)
    neighbors: np.ndarray  # (p, k) the rows of a patch beside its own, nearest first
    divergence: str | Callable[[Gaussians, np.ndarray, np.ndarray], np.ndarray]
    regularization: Regularization
    root: bool  # whether a weight is the root of the divergence
    floor: float  # least noise on a diagonal
    form: str  # of the covariances: "full" or "low-rank"
    own: np.ndarray | None = None  # (p,) the row that each patch is of; None: patch i is of row i
    products: RowProducts | None = None  # of X, for the many edges of a whole graph

    def weights(self, heads: np.ndarray, tails: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """The divergence, or its root, between both patches of every pair."""
        gaussians = patch_gaussians(
            self.X,
            patch_members(self.neighbors, self.own),
            regularization=self.regularization,
            form=self.form,
            floor=self.floor,
            n_edges=0 if self.products is None else len(heads),
            products=self.products,
            n_jobs=n_jobs,
        )
        formula = self.divergence if callable(self.divergence) else EDGE_DIVERGENCES[self.divergence]
        values = checked_weights(formula(gaussians, heads, tails), len(heads))
        return np.sqrt(values) if self.root else values

    def of_new(self, X: np.ndarray, near: np.ndarray) -> tuple[Patches, np.ndarray]:
        """Patches of new rows with the rows ``near`` them, (b, k), behind the patches of the latter.

        Also the numbers of the latter, in the shape of ``near``.
        """
        known, numbers = np.unique(near, return_inverse=True)
        # Fewer rows may be left to be neighbours than at the fit, where only the largest part was fitted.
        old = self.neighbors[known, : near.shape[1]]
        used = np.unique(np.concatenate([known, old.ravel()]))
        own = np.append(np.searchsorted(used, known), len(used) + np.arange(len(X)))
        lists = np.searchsorted(used, np.concatenate([old, near]))
        rows = np.concatenate([self.X[used], X])
        return replace(self, X=rows, neighbors=lists, own=own, products=None), numbers.reshape(near.shape)

    def to_new(self, X: np.ndarray, near: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Weights, (b, k), between the patches of new rows and those of rows ``near`` them; row by row."""
        weights = np.empty(near.shape)
        for block in row_blocks(len(X), "divergences of new rows", size=_NEW_AT_ONCE):
            both, tails = self.of_new(X[block], near[block])
            heads = tails.max() + 1 + np.repeat(np.arange(len(tails)), tails.shape[1])
            weights[block] = both.weights(heads, tails.ravel(), n_jobs=n_jobs).reshape(tails.shape)
        return weights
