"""Classical multidimensional scaling."""

from __future__ import annotations

import numpy as np

from ..._core.runtime import require_memory, row_blocks
from ..._core.state import Absent, Array, Number, State, StateError, Tuple, Value
from ...distances import condensed_distances, distances_between, rows_per_block
from ...embedding.input_rows import KnownRows, checked_components, checked_rows, require_columns, table_of
from ...embedding.landmarks import checked_landmarks, chosen_landmarks, scaled_by_landmarks
from ...embedding.placement import RowKeeper
from ...linalg import Scaling, classical_scaling, residual_variance


class ClassicalMDS(RowKeeper):
    """Coordinates whose distances match the given ones, as well as an inner product allows.

    The leading eigenvectors of ``B = -1/2 H (D ∘ D) H``, each times the root of its eigenvalue; ``B`` is
    never formed. Distances that are not Euclidean give negative eigenvalues: their coordinates are zero,
    with a warning, never NaN. A new row is placed by its distances to the fitted rows, and a fitted one gets
    its own coordinates.

    With landmarks, those alone are scaled, and all rows placed by their distances to them (landmark MDS).

    Cost: ``O(n^2 (m + i))`` time for i iterations, ``4 n^2`` bytes, estimated before they are taken; with l
    landmarks ``O(l n m + l^2 i)`` and ``8 l n``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    metric : str or callable
        Any metric of scikit-learn, or ``"precomputed"``: X is then a square matrix of distances.
    n_landmarks : int or Landmarks, optional
        Landmarks, spread out over the rows, or ``Landmarks(n, "random")``; None takes all rows.
    random_state : int, RandomState or None
        For landmarks drawn at random. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    landmarks_ : array of shape (l,) or None
        The rows that are landmarks.
    eigenvalues_ : array of shape (n_components,)
    residual_variance_ : float
        ``1 - corr(D, D_Z)^2`` over all pairs, or those of a landmark and any row.
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum of ``B``.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Torgerson (1952). de Silva and Tenenbaum (2003) for landmarks.

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
        landmarks_=Absent(Array("r", dtype=np.int64, below="n")),
        _scaling=Value(Scaling, n="r", d="d"),  # of the landmarks, or of all rows
        _fit_X=table_of("n", "columns", empty=True),
    )

    _found_again = ("_known",)

    def __init__(
        self, n_components=2, *, metric="euclidean", n_landmarks=None, random_state=None, n_jobs=None
    ):
        self.n_components = n_components
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, of all pairs or from landmarks, and their classical scaling. ``y`` is not used."""
        n_components = checked_components(self.n_components)
        checked_landmarks(self.n_landmarks, n_components, 0)
        X = checked_rows(self, X, metric=self.metric)
        landmarks = checked_landmarks(self.n_landmarks, n_components, len(X))
        chosen = None
        if landmarks is None:
            scaling, Z, variance = self._scaled(X)
        else:
            chosen = chosen_landmarks(X, landmarks.n, landmarks.rule, metric=self.metric,
                                      random_state=self.random_state, n_jobs=self.n_jobs)  # fmt: skip
            scaling, Z, variance = self._scaled_by(X, chosen)
        self._scaling, self.landmarks_, self.residual_variance_ = scaling, chosen, variance
        self.eigenvalues_, self.euclidean_defect_ = scaling.eigenvalues, scaling.euclidean_defect
        self._remember(X)  # now that the distances between the rows are gone
        self._fit_X = np.empty((len(X), 0)) if self._known is None else self._known.X
        self.embedding_ = self._one_place(X, Z)
        self._n_features_out = n_components
        return self

    def _scaled(self, X: np.ndarray) -> tuple[Scaling, np.ndarray, float]:
        n = len(X)
        require_memory(4 * n * n, f"All distances of {n:,} rows", "Take landmarks: n_landmarks=500.")
        D = condensed_distances(X, self.metric, self.n_jobs)
        scaling = classical_scaling(D, n, self.n_components, n_jobs=self.n_jobs)
        return scaling, scaling.embedding, residual_variance(D, scaling.embedding, n_jobs=self.n_jobs)

    def _scaled_by(self, X: np.ndarray, chosen: np.ndarray) -> tuple[Scaling, np.ndarray, float]:
        n, count = len(X), len(chosen)
        what = f"Distances of {n:,} rows to {count:,} landmarks"
        require_memory(8 * n * count, what, "Take fewer of them.")
        D = np.empty((count, n))
        for block in row_blocks(n, "distances", size=rows_per_block(count)):
            D[:, block] = self._distances(X[block], X, self.metric, chosen).T
        return scaled_by_landmarks(D, chosen, self.n_components, n_jobs=self.n_jobs)

    def _distances(self, X: np.ndarray, fitted: np.ndarray, metric, chosen: np.ndarray | None) -> np.ndarray:
        """Those of rows to the landmarks, or to all fitted rows."""
        rows: np.ndarray | slice = slice(None) if chosen is None else chosen
        if metric == "precomputed":
            return X[:, rows]
        return distances_between(X, fitted[rows], metric, self.n_jobs)

    def _known_rows(self) -> KnownRows | None:
        if not hasattr(self, "_known"):  # a model file holds the rows alone
            self._known = KnownRows.of(self._fit_X) if self._fit_X.shape[1] else None
        return self._known

    def _require_sound(self) -> None:
        require_columns(self, self._fit_X)
        super()._require_sound()
        if self._chosen() is None and len(self._scaling.means) != len(self._fit_X):
            raise StateError("_scaling.means", "must be one for each row")

    def _chosen(self) -> np.ndarray | None:
        return getattr(self, "landmarks_", None)  # older model files have none

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self._fit_X))):
            D = self._distances(X[block], self._fit_X, self._fit_metric, self._chosen())
            Z[block] = self._scaling.place(D, n_jobs=self.n_jobs)
        return Z
