"""Tangent coordinates of patches: a row and its neighbours, along their own leading directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import IsentropicWarning, require_count, warn
from ..._core.runtime import one_blas_thread, row_blocks
from ..._core.state import Array, State, StateError
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import require_features
from ...embedding.maps.spectral import SpectralEmbedder
from ...embedding.side_by_side import checked_parts
from .local import NeighborLists, neighbor_lists

RANK = 1e-6  # of the widest spread of a patch: what is below is rounding, of squares
_NUMBERS_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class Tangents:
    """Patches of p rows around their means, the d leading directions of each, zero beyond its rank."""

    rows: np.ndarray  # (r, p, m): around the mean, in units of their own
    means: np.ndarray  # (r, m): of the patch, from its first row, in these units
    units: np.ndarray  # (r,): powers of two, so that dividing rounds nothing
    basis: np.ndarray  # (r, p, d): left singular vectors
    spreads: np.ndarray  # (r, d): singular values

    @classmethod
    def of(cls, X: np.ndarray, patches: np.ndarray, d: int) -> Tangents:
        """``O(p min(p, m)^2 + p^2 m)`` time a patch, each by itself."""
        rows = X[patches] - X[patches[:, :1]]  # from a row first: an offset costs no digits of what is left
        units = np.ldexp(1.0, np.frexp(np.abs(rows).max(axis=(1, 2)))[1])
        rows /= units[:, None, None]
        means = rows.mean(axis=1)
        rows -= means[:, None]
        with one_blas_thread():
            basis, spreads = _leading(rows, d)
        there = spreads > RANK * spreads[:, :1]
        return cls(rows, means, units, basis * there[:, None], spreads * there)

    @property
    def ranks(self) -> np.ndarray:
        return np.count_nonzero(self.spreads, axis=1)

    def alignments(self) -> np.ndarray:
        """Blocks ``I - 11'/p - UU'`` (r, p, p): 0 for functions that are affine in the tangents."""
        p = self.basis.shape[1]
        blocks = -(self.basis @ self.basis.transpose(0, 2, 1)) - 1 / p
        blocks[:, np.arange(p), np.arange(p)] += 1
        return blocks


def _leading(rows: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and values, largest first; from products where features are more than rows."""
    r, p, m = rows.shape
    if m <= p:
        basis, spreads, _ = np.linalg.svd(rows, full_matrices=False)
    else:
        squares, basis = np.linalg.eigh(rows @ rows.transpose(0, 2, 1))
        spreads, basis = np.sqrt(np.maximum(squares[:, ::-1], 0)), basis[:, :, ::-1]
    count = min(d, spreads.shape[1])
    full, wide = np.zeros((r, p, d)), np.zeros((r, d))
    full[:, :, :count], wide[:, :count] = basis[:, :, :count], spreads[:, :count]
    return full, wide


def tangent_blocks(X: np.ndarray, lists: NeighborLists, d: int) -> Iterator[tuple[np.ndarray, Tangents]]:
    """Patches, each fitted row before its neighbours, with their tangents; a warning about those of less."""
    X, poor = X[lists.fitted], 0
    for rows, near in lists.by_size(X.shape[1]):
        patches = np.concatenate([rows[:, None], near], axis=1)
        tangents = Tangents.of(X, patches, d)
        poor += int(np.count_nonzero(tangents.ranks < d))
        yield patches, tangents
    if poor:
        what = f"{poor} of {len(X)} patches span fewer than {d} dimensions, as where many rows are equal"
        warn(f"{what}: they are aligned along those that they have.", IsentropicWarning)


class TangentEmbedder(SpectralEmbedder):
    """A new row is placed by the patch of its nearest fitted row: tangent coordinates, mapped as theirs."""

    metric = "euclidean"
    _state = State(_patches=Array("g", "p", dtype=np.int64, below="n"))

    def __init__(self, n_neighbors=10, n_components=2, *, on_disconnected="bridge", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def _patched(self, X, least) -> tuple[np.ndarray, NeighborLists, int]:
        """The table, its lists and the dimension, all checked: ``least(d)`` neighbours are needed."""
        d = checked_components(self.n_components)
        checked_parts(self.on_disconnected, separate=True)
        must_be = f"an integer of at least {least(d)}, for n_components = {d}"
        require_count("n_neighbors", self.n_neighbors, must_be, least=least(d))
        X = checked_rows(self, X)
        require_features(d, X)
        lists = neighbor_lists(X, self.n_neighbors, self.on_disconnected, self.n_jobs)
        return X, lists, d

    def _align(self, X: np.ndarray, lists: NeighborLists, operator: csr_array, d: int) -> None:
        """The bottom eigenvectors of the operator, and the patches that place new rows."""
        patches = lists.fitted[np.column_stack([np.arange(len(lists.near)), lists.near])]
        self._embed(X, lists.fitted, operator, d, labels=lists.labels, _patches=patches)

    def _require_sound(self) -> None:
        super()._require_sound()
        if (np.diff(self._fitted) <= 0).any():
            raise StateError("_fitted", "must be ascending")

    def _place(self, X: np.ndarray) -> np.ndarray:
        """``y = mean(Y) + Y' U S^-1 t``, t the row's coordinates along the directions of the patch."""
        centres = np.searchsorted(self._fitted, self._nearest_fitted(X, 1)[:, 0])
        known, (p, m) = self._known.X, (self._patches.shape[1], X.shape[1])
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "places", size=max(1, _NUMBERS_AT_ONCE // (p * max(p, m)))):
            patches = self._patches[centres[block]]
            found = Tangents.of(known, patches, self._n_features_out)
            gaps = (X[block] - known[patches[:, 0]]) / found.units[:, None] - found.means
            inverse = np.where(found.spreads > 0, 1 / np.where(found.spreads > 0, found.spreads, 1), 0)
            along = (
                np.einsum("rpd,rp->rd", found.basis, np.einsum("rpm,rm->rp", found.rows, gaps)) * inverse**2
            )
            Y = self.embedding_[patches]
            Z[block] = Y.mean(axis=1) + np.einsum(
                "rpc,rp->rc", Y, np.einsum("rpd,rd->rp", found.basis, along)
            )
        return Z
