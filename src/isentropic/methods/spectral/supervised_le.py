"""S-LE: supervised Laplacian eigenmaps, near within classes and apart between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..._core.errors import IsentropicWarning, is_real, require, require_count, require_number, warn
from ..._core.runtime import require_memory, row_blocks
from ..._core.state import Double, Maybe, Number, OneOf, State, Value, Whole
from ...dissimilarities import Added, Exponential, Shrunk, checked_dissimilarity, mean_squared_distance
from ...distances import distances_between, rows_per_block
from ...embedding.classes.class_divergences import dissimilarity_of
from ...embedding.classes.supervised import ClassLearner
from ...embedding.input_rows import checked_components
from ...embedding.maps.spectral import SpectralEmbedder, padded
from ...embedding.parts import eigenvectors_of_parts
from ...linalg import top_eigenpairs

_PEAK = 50.0  # times the median: a coordinate that large somewhere sits on a few rows
_LARGEST_PEAK = 1e12


class SupervisedLE(ClassLearner, SpectralEmbedder):
    """Laplacian eigenmaps that hold near rows of a class together and push near rows of others apart.

    Two rows are near where their similarity ``S = exp(-d^2 / beta)`` is above the mean similarity of either.
    W_w is S of near rows of one class, each row near itself, and W_b is 1 for near rows of two classes, L_b
    its Laplacian, scaled so that both have the same total. The map has the top solutions of
    ``(gamma L_b + (1 - gamma) W_w) z = lambda D_w z`` but the constant one, of mean square 1 weighted by D_w.

    For small gamma these are smooth indicators of the classes: there is one less coordinate that means
    something than there are classes. Without near rows of two classes, or with a gamma of 0, they are points.

    A new row needs no label: it is the mean of its nearest fitted rows, weighed by S.

    With a ``dissimilarity`` d is one that counts classes: rows are near by it, and weigh by it. That of a new
    row is the expectation over the classes that it may have, by votes of its nearest rows.

    Cost: ``O(n^2 m)`` time, ``24 n^2`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Fitted rows whose mean a new row is. The fit itself has no such number.
    n_components : int
        Dimension of the map; coordinates beyond one less than the number of classes are told of.
    beta : "auto" or float
        Width of the similarities, in squared units of the data. ``"auto"`` is the mean squared distance.
    gamma : float
        Weight of what lies between classes, from 0 to below 1. Large ones lead to coordinates that sit on
        single rows, with a warning.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3, ClassDivergence, or None
        Of rows and classes, as in :class:`SupervisedIsomap`, in place of the Euclidean distance. Then beta is
        in its squared units.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Largest first, that of the constant, ``1 - gamma``, left out.
    eigengap_ : float
        How far the next eigenvalue is below the last of these, as a share of that.
    n_separating_ : int
        Coordinates that are constant on each class.
    peak_ : float
        The largest entry of a coordinate over the median one, of the coordinate where that is most; at most
        1e12. Above 50 a coordinate sits on a few rows.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Raducanu and Dornaika (2012). Hajderanj (2022).

    Examples
    --------
    >>> from isentropic import SupervisedLE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> eigenmaps = SupervisedLE().fit(iris.X[::2], iris.y[::2])
    >>> eigenmaps.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    metric = "euclidean"
    _state = State(
        peak_=Number(0),
        _width=Double(above=0),
        _n_nearest=Whole(1, below="g + 1"),
        _fit_measure=Maybe(OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"))),
    )

    def __init__(
        self, n_neighbors=10, n_components=2, *, beta="auto", gamma=0.05, dissimilarity=None, n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.beta = beta
        self.gamma = gamma
        self.dissimilarity = dissimilarity
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Near rows, similarities within classes, the Laplacian between them, the coordinates of both."""
        d, gamma = self._checked()
        X, codes = self._taught(X, y)
        fitted = np.flatnonzero(codes >= 0)
        rows, classes = X[fitted], codes[fitted]
        S, width, measure = self._similarities(rows, classes)
        within, between = near_weights(S, classes)
        degrees = within.sum(axis=1)
        count = min(d, len(rows) - 1)
        if gamma == 0 or not between.any():
            values, vectors, still = _indicators(rows, within, degrees, count)
        else:
            (values, vectors), still = _top(within, between, degrees, gamma, count), 0
        Z = vectors[:, :count] * np.sqrt(degrees.sum() / degrees)[:, None]
        self._tell(d)
        self._learn(X, codes, self.n_neighbors, "neutral" if measure is None else "votes")
        self._keep(
            X, fitted, Z, d, eigenvalues_=padded(values[:count], d), n_separating_=still,
            eigengap_=_gap(values, count), peak_=_told_peak(Z), _width=width,
            _n_nearest=min(self.n_neighbors, len(rows)), _fit_measure=measure,
        )  # fmt: skip
        return self

    def _checked(self) -> tuple[int, float]:
        """The dimension and gamma, after all other parameters."""
        require_count("n_neighbors", self.n_neighbors)
        is_auto = isinstance(self.beta, str) and self.beta == "auto"
        fits = is_auto or (is_real(self.beta) and 0 < self.beta < np.inf)
        require(fits, "beta", "'auto' or a positive number in squared units of X", self.beta)
        if self.dissimilarity is not None:
            checked_dissimilarity(self.dissimilarity)
        gamma = require_number("gamma", self.gamma, "a number from 0 to below 1", below=1)
        return checked_components(self.n_components), gamma

    def _similarities(self, X: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, float, Any]:
        """S of all pairs, the width of it, and the dissimilarity that it is made of, None for distances."""
        n, measure = len(X), None
        require_memory(24 * n * n, f"Similarities of {n:,} rows", "Take StochasticLE, or a sample.")
        if self.dissimilarity is not None:
            measure = dissimilarity_of(self.dissimilarity, X, classes, n_jobs=self.n_jobs)
        D = np.empty((n, n))
        for block in row_blocks(n, "similarities", size=rows_per_block(n)):
            D[block] = distances_between(X[block], X, "euclidean", self.n_jobs)
            if measure is not None:
                D[block] = measure.between(D[block], classes[block, None], classes)
        width = self.beta
        if isinstance(width, str):
            spread = mean_squared_distance
            width = spread(X, "euclidean") if measure is None else spread(D, "precomputed", self.n_jobs)
        D /= math.sqrt(width)
        return np.exp(-(D**2)), float(width), measure

    def _tell(self, n_components: int) -> None:
        count = len(self.classes_)
        if n_components > count - 1 > 0:
            warn(
                f"{count} classes have {count - 1} coordinates that separate them: the last "
                f"{n_components - count + 1} of {n_components} show what is left. Take fewer components.",
                IsentropicWarning,
            )

    def _place(self, X: np.ndarray) -> np.ndarray:
        near, distances = self._near(X)
        squared = (distances / np.sqrt(self._width)) ** 2
        weights = np.exp(squared[:, :1] - squared)  # from the nearest on, so that one has a weight
        Z = self.embedding_[self._fitted[near]]
        sums = np.cumsum(weights, axis=1)[:, -1:]
        return np.cumsum(weights[:, :, None] * Z, axis=1)[:, -1] / sums

    def _near(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest fitted rows, and how far they are, by what the fit went by."""
        if self._fit_measure is None:
            return self._rows_fitted().nearest(X, self._n_nearest, n_jobs=self.n_jobs)
        shares = self._shares(X)
        return self._rows_by_class().nearest(X, self._n_nearest, self._fit_measure, shares, self.n_jobs)


def near_weights(S: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``W_w`` and ``W_b``, dense: similarities of near rows of a class, and ones for near rows of two.

    The first in place of the similarities.
    """
    n = len(S)
    means = S.mean(axis=1)
    S[(means[:, None] >= S) & (means >= S)] = 0.0
    S[np.arange(n), np.arange(n)] = 1.0  # also where all rows are equal, and none is above the mean
    apart = classes[:, None] != classes
    between = (apart & (S > 0)).astype(float)
    S[apart] = 0.0
    return S, between


def _top(within, between, degrees, gamma: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest solutions but the constant one, which is projected out, not recognised; one value more."""
    n, roots = len(degrees), np.sqrt(degrees)
    outside = between.sum(axis=1)
    scale = degrees.sum() / outside.sum()
    constant = roots / np.linalg.norm(roots)
    below = 1.0 + 2.0 * scale * float((outside / degrees).max())  # more than any eigenvalue is away from 0

    def times(x: np.ndarray) -> np.ndarray:
        along = constant @ x
        rest = (x - constant * along) / roots
        product = gamma * scale * (outside * rest - between @ rest) + (1.0 - gamma) * (within @ rest)
        product /= roots
        return product - constant * (constant @ product) - below * along * constant

    return top_eigenpairs(times, n, min(count + 1, n - 1))


def _indicators(X, within, degrees, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The same without anything between classes: the largest eigenvalue once for each part of W_w."""
    parts = connected_components(csr_array(within), directed=False)[1]
    roots = np.sqrt(degrees)
    operator = np.eye(len(X)) - within / roots[:, None] / roots
    changes, vectors = eigenvectors_of_parts(operator, X, parts, count, degrees)
    return 1.0 - changes, vectors, min(int(parts.max()), count)


def _gap(values: np.ndarray, count: int) -> float:
    if len(values) == count:
        return 1.0
    last, following = values[count - 1 : count + 1]
    return float(min(max(1.0 - following / last, 0.0), 2.0)) if last > 0 else 0.0


def _told_peak(Z: np.ndarray) -> float:
    """The largest entry over the median, with a warning where a coordinate sits on a few rows."""
    sizes = np.abs(Z)
    largest, median = sizes.max(axis=0, initial=0.0), np.median(sizes, axis=0)
    ratios = np.divide(largest, median, out=np.full(len(largest), _LARGEST_PEAK), where=median > 0)
    peak = float(np.minimum(np.where(largest > 0, ratios, 0.0), _LARGEST_PEAK).max(initial=0.0))
    if peak > _PEAK:
        warn(
            f"A coordinate is {peak:.3g} times as large on some row as on the median one: it shows few rows. "
            "Take a smaller gamma, or fewer components; that of a small class is a peak by nature.",
            IsentropicWarning,
        )
    return peak
