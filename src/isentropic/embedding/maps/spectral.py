"""Spectral methods: the bottom eigenvectors of an operator that ties neighbours. They differ in the operator.

A method of this family builds its operator in ``fit`` and hands it to :meth:`SpectralEmbedder._embed`; in
``_place`` it says where new rows go.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import IsentropicWarning, warn
from ..._core.state import Array, Number, State, Whole
from ...linalg import bottom_eigenpairs, bottom_squared_eigenpairs
from ...linalg.spectrum import eigengap, padded, standing_still
from ...neighbors import RowIndex
from ..placement import RowKeeper
from ..side_by_side import block, rows_of_parts, side_by_side


class SpectralEmbedder(RowKeeper):
    """Eigenvectors of an operator that ties neighbours, the constant one left out."""

    _state = State(  # g rows are fitted, the others placed
        eigenvalues_=Array("d"),
        eigengap_=Number(0),
        n_separating_=Whole(0),
        _fitted=Array("g", dtype=np.int64, below="n"),
    )
    _found_again: tuple[str, ...] = ("_index_of_fitted",)
    _index_of_fitted: RowIndex | None

    def _embed(
        self, X: np.ndarray, fitted: np.ndarray, operator: csr_array, n_components: int, *, squared=False,
        labels: np.ndarray | None = None, **found,
    ) -> None:  # fmt: skip
        """The bottom eigenvectors of the operator, or of its square ``A'A``, each of mean square 1.

        Where there are ``labels``, each part has its own, and the figures are those of the first, the
        largest. ``found`` is what else is kept.
        """
        parts = [np.arange(len(fitted))] if labels is None else rows_of_parts(labels)
        blocks = [block(operator, rows) for rows in parts]
        pairs = [_bottom(one, n_components, squared) for one in blocks]
        values, Z = pairs[0]
        count = Z.shape[1]
        found |= {
            "eigenvalues_": padded(values[:count], n_components),
            "eigengap_": eigengap(values, count),
            "n_separating_": standing_still(Z, blocks[0]),
        }
        if len(parts) > 1:
            wide = [np.pad(one, ((0, 0), (0, n_components - one.shape[1]))) for _, one in pairs]
            Z = side_by_side(wide, parts)
        self._keep(X, fitted, Z, n_components, **found)

    def _keep(self, X: np.ndarray, fitted: np.ndarray, Z: np.ndarray, n_components: int, **found) -> None:
        """The map of the fitted rows, zero in coordinates that so few do not have; the others are placed.

        ``found`` are the attributes that placing needs: set here, so that a fit which fails sets none.
        """
        n, count = Z.shape
        if count < n_components:
            lost = f"the last {n_components - count} of {n_components} coordinates are zero"
            warn(f"X has {n} rows: {lost}.", IsentropicWarning)
        self.__dict__.update(found)
        self._fitted, self._n_features_out, self._index_of_fitted = fitted, n_components, None
        self.embedding_ = np.zeros((len(X), n_components))
        self.embedding_[fitted, :count] = Z
        self._remember(X)
        others = np.setdiff1d(np.arange(len(X)), fitted)
        if len(others):
            self.embedding_[others] = self._place(X[others])
        self.embedding_ = self._one_place(X, self.embedding_)

    def _rows_fitted(self) -> RowIndex:
        """The fitted rows, to search them."""
        index = getattr(self, "_index_of_fitted", None)
        if index is None:
            index = self._index_of_fitted = RowIndex(self._known.X[self._fitted], self._fit_metric)
        return index

    def _nearest_fitted(self, X: np.ndarray, k: int) -> np.ndarray:
        """The k fitted rows nearest to each new row."""
        return self._fitted[self._rows_fitted().nearest(X, k, n_jobs=self.n_jobs)[0]]


def _bottom(operator: csr_array, n_components: int, squared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, one more than coordinates if there is one, and these, as many as there are."""
    n = operator.shape[0]
    count = min(n_components, n - 1)
    eigenpairs = bottom_squared_eigenpairs if squared else bottom_eigenpairs
    values, vectors = eigenpairs(operator, min(count + 1, n - 1), known=np.ones(n))
    return values, np.sqrt(n) * vectors[:, :count]
