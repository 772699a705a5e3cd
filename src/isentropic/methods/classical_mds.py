"""Classical multidimensional scaling."""

from __future__ import annotations

import numpy as np

from .._runtime import require_memory, row_blocks
from .._state import Array, Number, State, Tuple, Value
from ..distances import LARGEST, condensed_distances, distances_between, rows_per_block
from ..families.input_rows import (
    KnownRows,
    checked_components,
    checked_rows,
    one_place_for_equals,
    require_columns,
)
from ..families.placement import RowKeeper
from ..linalg import Scaling, classical_scaling, residual_variance


class ClassicalMDS(RowKeeper):
    """Coordinates whose distances match the given ones, as well as an inner product allows.

    The leading eigenvectors of ``B = -1/2 H (D ∘ D) H``, each times the root of its eigenvalue; ``B`` is
    never formed. Distances that are not Euclidean give negative eigenvalues: their coordinates are zero,
    with a warning, never NaN. A new row is placed by its distances to the fitted rows, and a fitted one gets
    its own coordinates.

    Cost: ``O(n^2 (m + i))`` time for i iterations, ``4 n^2`` bytes, estimated before they are taken.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    metric : str or callable
        Any metric of scikit-learn, or ``"precomputed"``: X is then a square matrix of distances.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
    residual_variance_ : float
        ``1 - corr(D, D_Z)^2`` over all pairs.
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum of ``B``.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Torgerson (1952).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import ClassicalMDS
    >>> square = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 2.0]])
    >>> Z = ClassicalMDS().fit_transform(square)
    >>> np.linalg.norm(Z[0] - Z[3]).round(6) == np.sqrt(5).round(6)
    np.True_
    """

    _state = State(
        eigenvalues_=Array("d"),
        residual_variance_=Number(),
        euclidean_defect_=Tuple(Number(), Number()),
        _scaling=Value(Scaling, n="n", d="d"),
        _fit_X=Array("n", "columns", within=LARGEST, empty=True),
    )

    _found_again = ("_known",)

    def __init__(self, n_components=2, *, metric="euclidean", n_jobs=None):
        self.n_components = n_components
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, classical scaling."""
        X = checked_rows(self, X, metric=self.metric)
        n_components = checked_components(self.n_components)
        n = len(X)
        require_memory(4 * n * n, f"All distances of {n:,} rows", "Take landmark-isomap, or a sample.")
        D = condensed_distances(X, self.metric, self.n_jobs)
        self._scaling = classical_scaling(D, n, n_components, n_jobs=self.n_jobs)
        self.embedding_ = self._scaling.embedding
        self.eigenvalues_ = self._scaling.eigenvalues
        self.euclidean_defect_ = self._scaling.euclidean_defect
        self.residual_variance_ = residual_variance(D, self.embedding_, n_jobs=self.n_jobs)
        del D  # before the rows are copied
        self._remember(X)
        self._fit_X = np.empty((len(X), 0)) if self._known is None else self._known.X
        if self._known is not None:
            self.embedding_ = one_place_for_equals(X, self.embedding_)
        self._n_features_out = n_components
        return self

    def _known_rows(self) -> KnownRows | None:
        if not hasattr(self, "_known"):  # a model file holds the rows alone
            self._known = KnownRows.of(self._fit_X) if self._fit_X.shape[1] else None
        return self._known

    def _require_sound(self) -> None:
        require_columns(self, self._fit_X)
        super()._require_sound()

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self._fit_X))):
            D = distances_between(X[block], self._fit_X, self._fit_metric, self.n_jobs)
            Z[block] = self._scaling.place(D, n_jobs=self.n_jobs)
        return Z
