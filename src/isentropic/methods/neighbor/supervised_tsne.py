"""Supervised t-SNE: t-SNE of a dissimilarity that knows classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.class_choices import Dis4
from ..._core.state import OneOf, State, StateError, Value
from ..._core.values import Neighbors
from ...dissimilarities import (
    Added,
    ClassIndex,
    Directed,
    DirectedIndex,
    Exponential,
    Shrunk,
    checked_dissimilarity,
    fitted_column,
)
from ...distances import metric_name
from ...embedding.classes.class_divergences import dissimilarity_of
from ...embedding.classes.fitted_classes import FittedClasses
from .class_maps import ClassStudentMap


class SupervisedTSNE(ClassStudentMap):
    """t-SNE in which rows of two classes are farther apart than they are in the data.

    Affinities are ``exp(-D^2 / 2 sigma_i^2)`` of a dissimilarity D of rows and classes, with ``sigma_i``
    such that about ``perplexity`` rows count; the descent is t-SNE's. dis1 is
    ``sqrt(1 - exp(-d^2 / beta))`` within a class and ``exp(d^2 / 2 beta) - alpha`` between two, dis2
    ``d / psi`` within, dis3 ``d + mu max d`` between, and dis4, directed, ``d exp(v_i - v_j)`` within, v a
    column of X. A new row has no class: D to a fitted row is the
    expectation over the classes that it may have, and it goes down its own part of the cost. So do, with all
    others, rows whose class is missing in ``y``: they see the rows that have one.

    The classes shape the map: with labels at random it looks separated, too. Believe it as far as rows
    that it has not seen are placed with their class, and beside the same map of permuted labels.

    Cost: that of t-SNE with an exact search for each class.

    Parameters
    ----------
    perplexity : float, optional
        About how many neighbours count. None is 30, or a third of the other rows where there are fewer.
    n_components : int
        Dimension of the map.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3, Dis4 or ClassDivergence
        As above, with ``Dis1(alpha, beta)``, ``Dis2(psi)``, ``Dis3(mu)`` for other numbers, and
        ``Dis4(column)``, the column that d leaves out: rows of a class in which it is high are near to all of
        the class. The last adds
        the divergence between the Gaussians of two classes to distances; it may be directed,
        ``ClassDivergence(divergence="directed-kl")``.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class: the shares of the classes among as many of the nearest rows
        as the root of their number, the posterior of a Gaussian for each class, or nothing, so that they have
        the class of any row.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the descent starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str or callable
        Of d: any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the
        rows given to ``transform`` are distances to the fitted rows.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For random starts, and the rows that a start by classical scaling is made from. None is a fixed seed:
        two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map.
    repulsion_ : {"exact", "fields"}
        How the push of all pairs was summed.
    n_iter_ : int
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj, Weheliye and Chen (2019); Hajderanj (2022), chapters 5 and 6.

    Examples
    --------
    >>> from isentropic import SupervisedTSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = SupervisedTSNE(dissimilarity="dis3", max_iter=250).fit(iris.X[::2], iris.y[::2])
    >>> tsne.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _state = State(
        _fit_measure=OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"), Value(Directed))
    )

    def __init__(
        self,
        perplexity=None,
        n_components=2,
        *,
        dissimilarity="dis1",
        unlabelled="votes",
        init="pca",
        metric="euclidean",
        max_iter=750,
        random_state=None,
        n_jobs=None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.unlabelled = unlabelled
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """The dissimilarity, the nearest rows by it, affinities, start, descent."""
        checked_dissimilarity(self.dissimilarity, directed=True)
        X, codes = self._taught(X, y, metric=self.metric)
        steps, rows = self._phases(), np.flatnonzero(codes >= 0)
        n_votes = max(round(np.sqrt(len(rows))), 1)
        frame, classes = self._frame(len(rows)), self._classes_of(X, codes, n_votes)
        table = X[np.ix_(rows, rows)] if self.metric == "precomputed" else X[rows]
        index, measure = self._measured(np.ascontiguousarray(table), codes[rows])
        given = self._given(X, frame, self._class_lists(X, index, measure, classes, frame.listed))
        Z, cost = self._descended(given, self._affinities(given), steps)
        self._learn_pairs(X, classes, n_votes)
        self._keep_student(given, Z, cost, self.max_iter)
        self._fit_measure = measure
        return self

    def _measured(self, table: np.ndarray, codes: np.ndarray) -> tuple[Any, Any]:
        """The rows that have a class, to be searched by a dissimilarity, and that."""
        if isinstance(self.dissimilarity, Dis4):
            measure = fitted_column(self.dissimilarity, table, self.metric)
            return DirectedIndex(table, codes, self.metric), measure
        found = dissimilarity_of(self.dissimilarity, table, codes, metric=self.metric, directed=True,
                                 n_jobs=self.n_jobs)  # fmt: skip
        return ClassIndex(table, codes, self.metric), found

    def _class_lists(
        self, X: np.ndarray, index: Any, measure: Any, classes: FittedClasses, k: int
    ) -> Neighbors:
        """The k rows nearest to each by the dissimilarity, among those with a class."""
        rows, others = np.flatnonzero(classes.codes >= 0), np.flatnonzero(classes.codes < 0)
        indices, values = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        near, values[rows] = index.listed(k, measure, self.n_jobs)
        indices[rows] = rows[near]
        if len(others):
            new = X[np.ix_(others, rows)] if self.metric == "precomputed" else X[others]
            near, values[others] = index.nearest(new, k, measure, classes.guessed, self.n_jobs)
            indices[others] = rows[near]
        return Neighbors(indices, values, metric_name(self.metric), exact=True)

    def _listed_among_fitted(self, X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        rows, index = np.flatnonzero(self._codes >= 0), self._fitted_index()
        new = np.ascontiguousarray(X[:, rows]) if self._fit_metric == "precomputed" else X
        near, values = index.nearest(new, k, self._fit_measure, self._shares(X), self.n_jobs)
        return rows[near], values

    def _fitted_index(self) -> Any:
        if not isinstance(self._fit_measure, Directed):
            return self._rows_by_class()
        labelled = np.flatnonzero(self._codes >= 0)
        return DirectedIndex(self._known_rows().X[labelled], self._codes[labelled], self._fit_metric)

    def _require_sound(self) -> None:
        super()._require_sound()
        measure = self._fit_measure
        if isinstance(measure, Directed) and not (measure.column < self.n_features_in_ > 1 and self._known):
            raise StateError("_fit_measure.column", "must be a column of the rows, and not the only one")
