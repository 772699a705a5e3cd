"""Classical multidimensional scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import require_memory, row_blocks
from ..._core.specs import Absent, Array, Maybe, Number, StateError, Tuple
from ..._core.state import Sub, Value
from ...distances import condensed_distances, distances_between, rows_per_block
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.landmarks import choose_landmarks, landmark_scaling
from ...embedding.training_data import NComponents, NJobs, Part, RowMetric, TrainingData, training_data
from ...linalg import Scaling, classical_scaling, residual_variance

Scaled = tuple[Scaling, np.ndarray, float]  # a scaling, the coordinates of all rows, the residual variance


@dataclass(frozen=True, eq=False)
class ScalingMap(Part):
    """New rows are placed by their distances to the landmarks, or to all training rows."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    scaling: Annotated[Scaling, Value(Scaling, n="r", d="d")]
    landmarks: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))] = None

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        Z = np.empty((len(X), self.scaling.embedding.shape[1]))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(self.data.n)):
            D = _distances_to(self.data, self.landmarks, X[block], n_jobs)
            Z[block] = self.scaling.place(D, n_jobs=n_jobs)
        return Z

    def _require_sound(self) -> None:
        if self.landmarks is None and len(self.scaling.means) != self.data.n:
            raise StateError("scaling.means", "must be one for each row")


class ClassicalMDS(Embedder):
    """Classical MDS: principal coordinates of a matrix of distances.

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

    landmarks_: Annotated[np.ndarray | None, Absent(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    residual_variance_: Annotated[float, Number()]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    _map: Annotated[ScalingMap, Sub(ScalingMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        metric: RowMetric = "euclidean",
        n_landmarks: Any = None,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, of all pairs or from landmarks, and their classical scaling. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        landmarks, chosen = checked_landmarks(self.n_landmarks, d, data.n), None
        if landmarks is None:
            scaling, Z, variance = _scale_all(data, d, n_jobs)
        else:
            chosen = choose_landmarks(data.table, landmarks.n, landmarks.rule, metric=data.metric,
                                      random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
            scaling, Z, variance = _scale_landmarks(data, chosen, d, n_jobs)
        Z = data.merge_duplicates(Z)
        return self._set_fit(Z, ScalingMap(data, scaling, chosen), landmarks_=chosen,
                             eigenvalues_=scaling.eigenvalues, residual_variance_=variance,
                             euclidean_defect_=scaling.euclidean_defect)  # fmt: skip


def _scale_all(data: TrainingData, n_components: int, n_jobs: int | None) -> Scaled:
    """Classical scaling of all distances."""
    n = data.n
    require_memory(4 * n * n, f"All distances of {n:,} rows", "Take landmarks: n_landmarks=500.")
    D = condensed_distances(data.table, data.metric, n_jobs)
    scaling = classical_scaling(D, n, n_components, n_jobs=n_jobs)
    return scaling, scaling.embedding, residual_variance(D, scaling.embedding, n_jobs=n_jobs)


def _scale_landmarks(data: TrainingData, chosen: np.ndarray, n_components: int, n_jobs: int | None) -> Scaled:
    """Classical scaling of the landmarks, by which all rows are placed."""
    n, count = data.n, len(chosen)
    what = f"Distances of {n:,} rows to {count:,} landmarks"
    require_memory(8 * n * count, what, "Take fewer of them.")
    D = np.empty((count, n))
    for block in row_blocks(n, "distances", size=rows_per_block(count)):
        D[:, block] = _distances_to(data, chosen, data.table[block], n_jobs).T
    return landmark_scaling(D, chosen, n_components, n_jobs=n_jobs)


def _distances_to(
    data: TrainingData, landmarks: np.ndarray | None, X: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Distances of rows to the landmarks, or to all training rows."""
    rows: np.ndarray | slice = slice(None) if landmarks is None else landmarks
    if data.precomputed:
        return X[:, rows]
    return distances_between(X, data.X[rows], data.metric, n_jobs)
