"""Kernel PCA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from ..._core.errors import IsentropicWarning, NegativeEigenvalueWarning, require, warn
from ..._core.runtime import one_blas_thread, require_memory, row_blocks
from ..._core.specs import Array, Maybe
from ..._core.state import Sub
from ...affinities import InnerProduct
from ...distances import rows_per_block
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.landmarks import choose_landmarks
from ...embedding.maps.nystrom import KernelMap
from ...embedding.training_data import NComponents, NJobs, TrainingData, training_data
from ...kernels._jit import threads
from ...kernels.rows.projections import project_centred
from ...linalg import fixed_signs, top_eigenpairs

_ZERO = 1e-12  # of the largest eigenvalue
_LEAST = 1e-10  # of the largest of the kernels between landmarks: below, their features are rounding


class KernelPCA(Embedder):
    """PCA in the feature space of a kernel.

    The leading eigenvectors v of ``H K H``, K the kernel between all rows and H = I - 11'/n, each times the
    root of its eigenvalue. A new row is placed by its centred kernels to the fitted ones (Nyström):
    ``sum_j (k_j - mean_j) v_j / sqrt(eigenvalue)``, which of a fitted row is its place. The linear kernel is
    PCA, ``-1/2 D^2`` classical MDS.

    With landmarks all is done in the span of these, in which a row is what its kernels K_l to them say:
    the kernel of two rows is ``K_l W^-1 K_l'``, W that between landmarks (Nyström).

    Cost: ``O(n^2 (m + i))`` time for i iterations, ``8 n^2`` bytes, estimated before they are taken; with l
    landmarks ``O(n l (l + m) + l^3)`` and ``8 l^2``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    kernel : {"rbf", "linear", "poly", "precomputed"}
        ``exp(-gamma |x - y|^2)``, ``x'y``, ``(gamma x'y + coef0)^degree``; or X is the square, symmetric
        matrix of kernels, and a new row has those to the fitted ones.
    gamma : "auto" or float
        ``"auto"`` is 1 / (2 mean squared distance of two rows) for ``"rbf"``, and 1 for ``"poly"``.
    degree : int
        Of ``"poly"``.
    coef0 : float
        Of ``"poly"``.
    n_landmarks : int or Landmarks, optional
        Landmarks, spread out over the rows, or ``Landmarks(n, "random")``; None takes all rows.
    random_state : int, RandomState or None
        For landmarks drawn at random. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Largest first. Coordinates of those that are not positive are zero, with a warning.
    landmarks_ : array of shape (l,) or None
        The rows that are landmarks.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Schölkopf, Smola and Müller (1998).

    Examples
    --------
    >>> from isentropic import KernelPCA, datasets
    >>> KernelPCA().fit_transform(datasets.load("builtin:iris").X).shape
    (150, 2)
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    _map: Annotated[KernelMap, Sub(KernelMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        kernel: str = "rbf",
        gamma: Any = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        n_landmarks: Any = None,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Kernels of all rows, centred; their leading eigenvectors; the place of every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        landmarks = checked_landmarks(self.n_landmarks, d, data.n)
        product = InnerProduct.of(data.table, self.kernel, self.gamma, self.degree, self.coef0)
        if landmarks is None:
            values, new_rows, Z = axes_of_all(data, product, d, n_jobs)
        else:
            must_be = "None where kernels are given, which are there already"
            require(self.kernel != "precomputed", "n_landmarks", must_be, self.n_landmarks)
            chosen = choose_landmarks(data.table, landmarks.n, landmarks.rule, random_state=self.random_state,
                                      n_jobs=n_jobs)  # fmt: skip
            with one_blas_thread():  # several take the cores from the kernels
                values, new_rows, Z = axes_by_landmarks(data, product, chosen, d, n_jobs)
        return self._set_fit(Z, new_rows, eigenvalues_=values, landmarks_=new_rows.landmarks)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def axes_of_all(
    data: TrainingData, product: InnerProduct, d: int, n_jobs: int | None
) -> tuple[np.ndarray, KernelMap, np.ndarray]:
    """Eigenvalues, the map and the coordinates of all rows, from all kernels."""
    X, n, given = data.table, data.n, product.kind == "precomputed"
    require_memory(8 * n * n, f"All kernels of {n:,} rows", "Take landmarks: n_landmarks=1000.")
    K = product.between(X, X, n_jobs)
    if given:
        _require_kernel(K)
    found, vectors = top_eigenpairs(_centred_times(K), n, min(d, n))
    values, positive = _positive_eigenvalues(found, d)
    projection = np.zeros((n, d))
    projection[:, positive] = vectors[:, positive[: vectors.shape[1]]] / np.sqrt(values[positive])
    projection -= projection.mean(axis=0)
    references = X[:, :0].copy() if given else X.copy()
    kept = TrainingData(n, None, data.metric)
    new_rows = KernelMap(kept, X.shape[1], product, references, K.mean(axis=0), projection)
    with threads(n_jobs):
        return values, new_rows, project_centred(K, new_rows.means, projection)


def axes_by_landmarks(
    data: TrainingData, product: InnerProduct, landmarks: np.ndarray, d: int, n_jobs: int | None
) -> tuple[np.ndarray, KernelMap, np.ndarray]:
    """As :func:`axes_of_all` by PCA of features ``K_l W^-1/2``: their products are the kernels of Nyström."""
    X, n, count = data.table, data.n, len(landmarks)
    references = X[landmarks]
    require_memory(24 * count**2, f"Kernels of {count:,} landmarks", "Take fewer of them.")
    W = product.between(references, references, n_jobs)
    sizes, axes = np.linalg.eigh((W + W.T) / 2)
    wide = sizes > _LEAST * sizes[-1]
    features = axes[:, wide] / np.sqrt(sizes[wide])
    near = W.mean(axis=0)  # taken off first, so that little is lost where all kernels are alike
    sums, products = np.zeros(count), np.zeros((features.shape[1],) * 2)
    for block in row_blocks(n, "kernels", size=rows_per_block(count)):
        gaps = product.between(X[block], references, n_jobs) - near
        sums += gaps.sum(axis=0)
        products += (gaps @ features).T @ (gaps @ features)
    mean = sums / n @ features
    found, vectors = np.linalg.eigh(products - n * np.outer(mean, mean))
    found, vectors = found[::-1][:d], vectors[:, ::-1][:, :d]
    values, positive = _positive_eigenvalues(found, d)
    projection = np.zeros((count, d))
    projection[:, positive] = features @ vectors[:, positive[: len(found)]]
    kept = TrainingData(n, None, data.metric)
    new_rows = KernelMap(kept, X.shape[1], product, references, near + sums / n, projection, landmarks)
    Z = new_rows.transform(X, n_jobs)
    signs = np.where((fixed_signs(Z) * Z).sum(axis=0) < 0, -1.0, 1.0)
    return values, replace(new_rows, projection=projection * signs), Z * signs


def _centred_times(K: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """``H K H`` times a vector."""

    def times(x: np.ndarray) -> np.ndarray:
        product: np.ndarray = K @ (x - x.mean())
        return product - product.mean()

    return times


def _positive_eigenvalues(found: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """As many eigenvalues as coordinates, and which are positive; warns of the others."""
    values = np.concatenate([found, np.zeros(d - len(found))])
    rounding = _ZERO * float(np.abs(values).max())
    positive = values > rounding
    negative = values[values < -rounding]
    if len(negative):
        listed = ", ".join(f"{value:.4g}" for value in negative)
        text = f"Eigenvalues {listed} are negative: the kernel is no inner product in {d} dimensions"
        warn(f"{text}, and those coordinates are zero.", NegativeEigenvalueWarning)
    elif not positive.all():
        lost = f"the last {d - positive.sum()} of {d} coordinates are zero"
        warn(f"The kernel has a rank of {positive.sum()} around its mean: {lost}.", IsentropicWarning)
    return values, positive


def _require_kernel(K: np.ndarray) -> None:
    name, hint = "A precomputed X", "Give the kernel of every row with every row."
    require(K.shape[0] == K.shape[1], name, "a square matrix of kernels", K.shape, hint)
    apart = float(np.abs(K - K.T).max())
    require(apart <= 1e-8 * np.abs(K).max(), name, "symmetric", f"differences up to {apart:.3g}",
            "Use (K + K.T) / 2 if they are rounding errors.")  # fmt: skip
