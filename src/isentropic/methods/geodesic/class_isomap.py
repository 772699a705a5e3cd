"""Class-divergence ISOMAP: geodesics blended with divergences between the Gaussians of classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._core.errors import require_number
from ..._core.state import Double, State, Value
from ..._core.values import Knn
from ...dissimilarities import mean_between
from ...embedding.classes.divergence_learner import DivergenceLearner
from ...neighbors import Entries, as_rule, distance_graph, entry_lists
from .class_blend import ClassBlend, mean_of_pairs, mean_of_rows
from .geodesic import GeodesicEmbedder


class ClassIsomap(DivergenceLearner, GeodesicEmbedder):
    """ISOMAP in which classes lie as far apart as the Gaussians that describe them.

    Classical scaling of ``alpha G + (1 - alpha) s DE``, G the geodesics over the neighbour graph and DE the
    divergence between the Gaussians of the classes of two rows, 0 within a class. Covariances are shrunk
    towards that within classes: by 0.1, by 0.5 where a class has no more rows than features, and wholly where
    it has one row.

    A new row has no label: its DE to a fitted row is the expectation over the classes that it may have, by
    their Gaussians. That is quadratic discriminant analysis drawn as a map: it tells classes of new rows as
    well as QDA on the data does, and no better. Rows of ``y`` without a class are in the graph, and treated
    like that.

    Cost: that of ISOMAP, and ``O(n m r + c r^3 + c^2 r^2)`` for c classes, r the lesser of n and m where m
    is above 256; no second n×n array.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row. More than there are other rows: all of them, with a warning.
    n_components : int
        Dimension of the map.
    alpha : float
        Weight of the geodesics, from 0, classes alone, to 1, ISOMAP.
    divergence : str
        ``"kl"`` (symmetrised), ``"bhattacharyya"``, ``"hellinger"``, ``"jeffreys-matusita"``,
        ``"cauchy-schwarz"``, ``"renyi"`` (order 1/2) or ``"fisher-rao"`` (of the variances alone).
    scale : "match" or None
        Divergences times a number s, so that their mean over pairs of two classes is that of the geodesics.
        None is s = 1, as published, which adds nats to lengths: classes are then all that a map shows.
    unlabelled : {"posterior", "votes", "neutral"}
        What is guessed of the class of a new row: as above; by votes of its nearest rows; or nothing, which
        leaves it in the middle of the map.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a graph in parts, as in ISOMAP.
    random_state : int, RandomState or None
        For random landmarks and approximate neighbours. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    divergences_ : array of shape (c, c)
        Between the classes, in nats, or what the divergence is in.
    scale_ : float
        The number s.
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(D, D_Z)^2``, D the blended lengths.
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum, which no map can show.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        The graph of the fitted rows; its weights are distances.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024).

    Examples
    --------
    >>> from isentropic import ClassIsomap, datasets
    >>> wine = datasets.load("builtin:wine", scaling="standard")
    >>> isomap = ClassIsomap().fit(wine.X[::2], wine.y[::2])
    >>> isomap.transform(wine.X[1::2]).shape  # without labels
    (89, 2)
    """

    metric = "euclidean"
    _state = State(_fit_rule=Value(Knn), _fit_alpha=Double(0, most=1))

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        alpha=0.5,
        divergence="kl",
        scale="match",
        unlabelled="posterior",
        n_landmarks=None,
        on_disconnected="bridge",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.alpha = alpha
        self.divergence = divergence
        self.scale = scale
        self.unlabelled = unlabelled
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Graph, geodesics, their blend with the divergences between classes, classical scaling."""
        self._checked_parameters()
        alpha = require_number("alpha", self.alpha, "a number in [0, 1]", most=1)
        self._checked_divergence()
        X, codes = self._taught(X, y)
        rule = as_rule(self.n_neighbors)
        graph = distance_graph(X, rule, on_disconnected=self.on_disconnected, random_state=self.random_state,
                               n_jobs=self.n_jobs)  # fmt: skip
        self._diverge(X, codes)
        self._fit_rule, self._fit_alpha = rule, alpha
        self._embed_graph(X, graph)
        return self

    def _blended(self, fitted: np.ndarray) -> Callable[[np.ndarray, np.ndarray | None], None]:
        def blend(G: np.ndarray, landmarks: np.ndarray | None) -> None:
            self.scale_ = self._matched(G, fitted, landmarks)
            shares = self._row_shares[fitted]
            lengths = self._lengths(shares)
            if landmarks is None:
                lengths.of_pairs(G)
            else:
                lengths.of_rows(G, shares[landmarks])

        return blend

    def _matched(self, G: np.ndarray, fitted: np.ndarray, landmarks: np.ndarray | None) -> float:
        """What divergences are multiplied by, so that their mean is that of the geodesics."""
        if self.scale is None:
            return 1.0
        codes = self._codes[fitted]
        heads = codes if landmarks is None else codes[landmarks]
        long = mean_of_pairs(G, codes) if landmarks is None else mean_of_rows(G, heads, codes)
        wide = mean_between(self.divergences_, *(np.bincount(some[some >= 0], minlength=len(self.classes_))
                                                 for some in (heads, codes)))  # fmt: skip
        return long / wide if wide > 0 and long > 0 else 1.0

    def _lengths(self, shares: np.ndarray) -> ClassBlend:
        return ClassBlend(self._fit_alpha, (1.0 - self._fit_alpha) * self.scale_ * self.divergences_, shares)

    def _blended_new(self) -> Callable[[np.ndarray, np.ndarray], None]:
        nodes = self._fitted if self.landmarks_ is None else self.landmarks_
        lengths = self._lengths(self._row_shares[nodes])
        return lambda X, G: lengths.of_rows(G, self._shares(X))

    def _entries(self, X: np.ndarray) -> Entries:
        return entry_lists(X, self._fitted_rows(), self.graph_, self._fit_rule, n_jobs=self.n_jobs)
