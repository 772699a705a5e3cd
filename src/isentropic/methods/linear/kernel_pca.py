"""Kernel PCA."""

from __future__ import annotations

import warnings

import numpy as np

from ..._core.errors import IsentropicWarning, NegativeEigenvalueWarning, require
from ..._core.runtime import one_blas_thread, require_memory, row_blocks
from ..._core.state import Absent, Array, State, StateError, Value
from ...affinities import InnerProduct
from ...distances import LARGEST, rows_per_block
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.landmarks import checked_landmarks, chosen_landmarks
from ...embedding.placement import Placer
from ...kernels._jit import threads
from ...kernels.rows.placement import project_centred
from ...linalg import fixed_signs, top_eigenpairs

_ZERO = 1e-12  # of the largest eigenvalue
_LEAST = 1e-10  # of the largest of the kernels between landmarks: below, their features are rounding


class KernelPCA(Placer):
    """PCA in the space that a kernel is the inner product of.

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

    _state = State(
        eigenvalues_=Array("d"),
        _product=Value(InnerProduct, columns="columns"),
        landmarks_=Absent(Array("r", dtype=np.int64, below="n")),
        _fit_X=Array("r", "columns", within=LARGEST, empty=True),  # the landmarks, or all rows
        _means=Array("r"),
        _projection=Array("r", "d"),
    )

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        gamma="auto",
        degree=3,
        coef0=1.0,
        n_landmarks=None,
        random_state=None,
        n_jobs=None,
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
        X = checked_rows(self, X)
        n_components = self._n_features_out = checked_components(self.n_components)
        landmarks = checked_landmarks(self.n_landmarks, n_components, len(X))
        self._product = InnerProduct.of(X, self.kernel, self.gamma, self.degree, self.coef0)
        if landmarks is None:
            self.landmarks_ = None
            self._fit_all(X, n_components)
            return self
        must_be = "None where kernels are given, which are there already"
        require(self.kernel != "precomputed", "n_landmarks", must_be, self.n_landmarks)
        self.landmarks_ = chosen_landmarks(X, landmarks.n, landmarks.rule, random_state=self.random_state,
                                           n_jobs=self.n_jobs)  # fmt: skip
        self._fit_X = X[self.landmarks_]
        with one_blas_thread():  # several take the cores from the kernels
            self._fit_landmarks(X, n_components)
        return self

    def _fit_all(self, X: np.ndarray, n_components: int) -> None:
        n, given = len(X), self.kernel == "precomputed"
        require_memory(8 * n * n, f"All kernels of {n:,} rows", "Take landmarks: n_landmarks=1000.")
        K = self._product.between(X, X, self.n_jobs)
        if given:
            _require_kernel(K)
        self._means = K.mean(axis=0)
        values, vectors = top_eigenpairs(self._centred_times(K), n, min(n_components, n))
        positive = self._told_positive(values, n_components)
        self._projection = np.zeros((n, n_components))
        roots = np.sqrt(self.eigenvalues_[positive])
        self._projection[:, positive] = vectors[:, positive[: vectors.shape[1]]] / roots
        self._projection -= self._projection.mean(axis=0)
        self._fit_X = X[:, :0].copy() if given else X.copy()
        with threads(self.n_jobs):
            self.embedding_ = project_centred(K, self._means, self._projection)

    def _fit_landmarks(self, X: np.ndarray, n_components: int) -> None:
        """PCA of features ``K_l W^-1/2`` (Nyström): their products are the kernels between landmarks."""
        n, count = len(X), len(self._fit_X)
        require_memory(24 * count**2, f"Kernels of {count:,} landmarks", "Take fewer of them.")
        W = self._product.between(self._fit_X, self._fit_X, self.n_jobs)
        sizes, axes = np.linalg.eigh((W + W.T) / 2)
        wide = sizes > _LEAST * sizes[-1]
        features = axes[:, wide] / np.sqrt(sizes[wide])
        near = W.mean(axis=0)  # taken off first, so that little is lost where all kernels are alike
        sums, products = np.zeros(count), np.zeros((features.shape[1],) * 2)
        for block in row_blocks(n, "kernels", size=rows_per_block(count)):
            gaps = self._product.between(X[block], self._fit_X, self.n_jobs) - near
            sums += gaps.sum(axis=0)
            products += (gaps @ features).T @ (gaps @ features)
        self._means = near + sums / n
        mean = sums / n @ features
        found, vectors = np.linalg.eigh(products - n * np.outer(mean, mean))
        values, vectors = found[::-1][:n_components], vectors[:, ::-1][:, :n_components]
        positive = self._told_positive(values, n_components)
        self._projection = np.zeros((count, n_components))
        self._projection[:, positive] = features @ vectors[:, positive[: len(values)]]
        Z = self._place(X)
        signs = np.where((fixed_signs(Z) * Z).sum(axis=0) < 0, -1.0, 1.0)
        self._projection, self.embedding_ = self._projection * signs, Z * signs

    @staticmethod
    def _centred_times(K: np.ndarray):
        def times(x: np.ndarray) -> np.ndarray:
            product = K @ (x - x.mean())
            return product - product.mean()

        return times

    def _told_positive(self, values: np.ndarray, n_components: int) -> np.ndarray:
        """Keep the eigenvalues; which are positive, and a warning of others."""
        values = self.eigenvalues_ = np.concatenate([values, np.zeros(n_components - len(values))])
        rounding = _ZERO * float(np.abs(values).max())
        positive, d = values > rounding, len(values)
        negative = values[values < -rounding]
        if len(negative):
            listed = ", ".join(f"{value:.4g}" for value in negative)
            text = f"Eigenvalues {listed} are negative: the kernel is no inner product in {d} dimensions"
            warnings.warn(f"{text}, and those coordinates are zero.", NegativeEigenvalueWarning, stacklevel=3)
        elif not positive.all():
            lost = f"the last {d - positive.sum()} of {d} coordinates are zero"
            text = f"The kernel has a rank of {positive.sum()} around its mean: {lost}."
            warnings.warn(text, IsentropicWarning, stacklevel=3)
        return positive

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self._means))):
            K = self._product.between(X[block], self._fit_X, self.n_jobs)
            with threads(self.n_jobs):
                Z[block] = project_centred(K, self._means, self._projection)
        return Z

    def _require_sound(self) -> None:
        if getattr(self, "landmarks_", None) is None and len(self._means) != len(self.embedding_):
            raise StateError("_means", "must be one for each row, where these are no landmarks")
        given = self._product.kind == "precomputed"
        columns, features = self._fit_X.shape[1], len(self._means) if given else self.n_features_in_
        if columns != (0 if given else features) or features != self.n_features_in_:
            raise StateError("_fit_X", f"must have the features of new rows, got {columns}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _require_kernel(K: np.ndarray) -> None:
    name, hint = "A precomputed X", "Give the kernel of every row with every row."
    require(K.shape[0] == K.shape[1], name, "a square matrix of kernels", K.shape, hint)
    apart = float(np.abs(K - K.T).max())
    require(apart <= 1e-8 * np.abs(K).max(), name, "symmetric", f"differences up to {apart:.3g}",
            "Use (K + K.T) / 2 if they are rounding errors.")  # fmt: skip
