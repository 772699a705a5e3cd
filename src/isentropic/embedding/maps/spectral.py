"""Spectral methods: the bottom eigenvectors of an operator that ties neighbours. They differ in the operator.

A method of this family builds its operator in ``fit`` and hands it to :meth:`SpectralEmbedder._embed`; in
``_place`` it says where new rows go.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..._core.errors import DisconnectedGraphWarning, IsentropicWarning, warn
from ..._core.state import Array, Number, State, Whole
from ...linalg import bottom_eigenpairs, bottom_squared_eigenpairs
from ...neighbors import RowIndex
from ..placement import RowKeeper
from ..side_by_side import block, rows_of_parts, side_by_side

_FAR_BELOW = 100  # times: an eigenvalue so far below the next one is that of parts that hardly hold together
_STILL = 0.5  # of the share of rows that are joined: a third of their gaps along an evenly filled coordinate
_MOST = 0.9  # of the neighbours
_ZERO = 1e-14  # of the size of the operator: what rounding leaves of an eigenvalue of 0


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


def padded(values: np.ndarray, count: int) -> np.ndarray:
    """As many values as there are coordinates: 0 for those that so few rows do not have."""
    return np.concatenate([values, np.zeros(count - len(values))])


def eigengap(values: np.ndarray, count: int) -> float:
    """How far the last of ``count`` eigenvalues is below the next one, as a share of that; 1 without a next.

    >>> eigengap(np.array([1.0, 3.0, 4.0]), 2)
    0.25
    """
    if len(values) == count:
        return 1.0
    last, following = np.maximum(values[count - 1 : count + 1], 0)
    return float(max(1 - last / following, 0.0)) if following > 0 else 0.0


def separating(values: np.ndarray, n_components: int, *, size: float) -> int:
    """How many of the coordinates only separate groups of rows that few edges join, told by a warning.

    Theirs are the eigenvalues, smallest first, before the last gap of more than a hundredfold (eigengap), and
    those that are 0 but for rounding. ``values`` has one more than there are coordinates, if there is one.

    Of a Laplacian: its eigenvalue is the mean squared gap of neighbours, by their weights, so that it says
    itself how still they stand; along a strip of any length the second is at most four times the first.

    >>> separating(np.array([0.3, 0.5, 0.6]), 2, size=1.0)
    0
    """
    least = max(_ZERO * size, np.finfo(float).tiny)
    floored = np.maximum(values, least)
    gaps = np.flatnonzero(floored[1:] > _FAR_BELOW * floored[:-1])
    zeros = np.count_nonzero(values[:n_components] <= least)
    count = max(int(gaps[-1]) + 1 if len(gaps) else 0, int(zeros))
    return told(count, n_components)


def standing_still(Z: np.ndarray, pattern: csr_array) -> int:
    """How many of the coordinates only separate groups of rows that few edges join, told by a warning.

    Those along which nearly all rows that an entry of the pattern joins are at one place, compared with rows
    that fill the coordinate evenly. Of local sums and tangents, whose eigenvalues do not say it
    (:func:`separating`): they measure how a coordinate bends, and a sheet that is long, or flat, has small
    ones though its neighbours are apart.
    """
    pairs = coo_array(pattern)
    heads, tails = pairs.coords
    gaps = np.abs(Z[heads[heads != tails]] - Z[tails[heads != tails]])
    if not len(gaps):
        return 0
    share = pattern.nnz / len(Z) ** 2
    still = np.quantile(gaps, _MOST, axis=0) <= _STILL * share * np.sqrt((Z**2).mean(axis=0))
    return told(int(np.count_nonzero(still)), Z.shape[1])


def told(count: int, n_components: int) -> int:
    """The number of coordinates that only separate groups, with the warning if there are some."""
    if count:
        what = "coordinate only separates" if count == 1 else "coordinates only separate"
        warn(
            f"{count} of {n_components} {what} groups of rows that the neighbour graph hardly joins: rows of "
            "a group lie at nearly one place along it. Take more neighbours, or map each group by itself.",
            DisconnectedGraphWarning,
        )
    return count
