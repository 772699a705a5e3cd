"""Kernel PCA."""

from __future__ import annotations

import warnings

import numpy as np

from .._errors import IsentropicWarning, NegativeEigenvalueWarning, require
from .._runtime import require_memory, row_blocks
from .._state import Array, State, StateError, Value
from ..affinities import InnerProduct
from ..distances import LARGEST, rows_per_block
from ..families.input_rows import checked_components, checked_rows
from ..families.placement import Placer
from ..kernels._jit import threads
from ..kernels.placement import project_centred
from ..linalg import top_eigenpairs

_ZERO = 1e-12  # of the largest eigenvalue


class KernelPCA(Placer):
    """PCA in the space that a kernel is the inner product of.

    The leading eigenvectors v of ``H K H``, K the kernel between all rows and H = I - 11'/n, each times the
    root of its eigenvalue. A new row is placed by its centred kernels to the fitted ones (Nyström):
    ``sum_j (k_j - mean_j) v_j / sqrt(eigenvalue)``, which of a fitted row is its place. The linear kernel is
    PCA, ``-1/2 D^2`` classical MDS.

    Cost: ``O(n^2 (m + i))`` time for i iterations, ``8 n^2`` bytes, estimated before they are taken.

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
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Largest first. Coordinates of those that are not positive are zero, with a warning.
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
        _fit_X=Array("n", "columns", within=LARGEST, empty=True),
        _means=Array("n"),
        _projection=Array("n", "d"),
    )

    def __init__(self, n_components=2, *, kernel="rbf", gamma="auto", degree=3, coef0=1.0, n_jobs=None):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Kernels of all rows, centred; their leading eigenvectors; the place of every row."""
        X = checked_rows(self, X)
        n_components, n = checked_components(self.n_components), len(X)
        self._product = InnerProduct.of(X, self.kernel, self.gamma, self.degree, self.coef0)
        require_memory(8 * n * n, f"All kernels of {n:,} rows", "Take landmark-isomap, or a sample.")
        K = self._product.between(X, X, self.n_jobs)
        if self.kernel == "precomputed":
            _require_kernel(K)
        self._means = K.mean(axis=0)
        values, vectors = top_eigenpairs(self._centred_times(K), n, min(n_components, n))
        self.eigenvalues_ = np.concatenate([values, np.zeros(n_components - len(values))])
        self._keep_positive(vectors)
        self._fit_X = X[:, :0].copy() if self.kernel == "precomputed" else X.copy()
        self._n_features_out = n_components
        with threads(self.n_jobs):
            self.embedding_ = project_centred(K, self._means, self._projection)
        return self

    @staticmethod
    def _centred_times(K: np.ndarray):
        def times(x: np.ndarray) -> np.ndarray:
            product = K @ (x - x.mean())
            return product - product.mean()

        return times

    def _keep_positive(self, vectors: np.ndarray) -> None:
        """Eigenvectors over the roots of their eigenvalues, centred, zero where those are not positive."""
        values = self.eigenvalues_
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
        self._projection = np.zeros((len(vectors), d))
        self._projection[:, positive] = vectors[:, positive[: vectors.shape[1]]] / np.sqrt(values[positive])
        self._projection -= self._projection.mean(axis=0)

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self._means))):
            K = self._product.between(X[block], self._fit_X, self.n_jobs)
            with threads(self.n_jobs):
                Z[block] = project_centred(K, self._means, self._projection)
        return Z

    def _require_sound(self) -> None:
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
