"""Supervised t-SNE: t-SNE of a dissimilarity that knows classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import seeded
from ..._core.specs import Number, OneOf, StateError, Text, Whole
from ..._core.state import Sub, Value
from ..._core.values import Dis4, Neighbors
from ...affinities import neighbors_for_perplexity
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
from ...distances import Metric, metric_name
from ...embedding.class_model import ClassModel, dissimilarity_of
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import (
    MaxIter,
    NComponents,
    NJobs,
    Part,
    RowMetric,
    TrainingData,
    Unlabelled,
    labelled_training_data,
)
from ...objectives import StudentNeighbors
from .tsne_stages import (
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    default_perplexity,
    descend,
    merged_embedding,
    schedule,
    student_affinities,
)


@dataclass(frozen=True, eq=False)
class DissimilarRows(Part):
    """Finds the training rows nearest to new ones by a dissimilarity, among those that have a class."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    measure: Annotated[Any, OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"), Value(Directed))]

    @property
    def data(self) -> TrainingData:
        return self.classes.data

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest training rows of each new row, and their dissimilarities."""
        rows = self.data.labelled
        new = np.ascontiguousarray(X[:, rows]) if self.data.precomputed else X
        near, values = self._index.nearest(new, k, self.measure, self.classes.shares(X, n_jobs), n_jobs)
        return rows[near], values

    @cached_property
    def _index(self) -> Any:
        if not isinstance(self.measure, Directed):
            return self.classes.labelled_index
        labels = self.data.labels[self.data.labelled]
        return DirectedIndex(self.classes.labelled_rows, labels, self.data.metric)

    def _require_sound(self) -> None:
        if isinstance(self.measure, Directed):
            m = 0 if self.data.X is None else self.data.X.shape[1]
            if not self.measure.column < m > 1:
                raise StateError("measure.column", "must be a column of the rows, and not the only one")


class DissimilarRowsMap(StudentMap):
    """The out-of-sample map of supervised t-SNE."""

    query: Annotated[DissimilarRows, Sub(DissimilarRows)]  # type: ignore[assignment]


class SupervisedTSNE(Embedder):
    """t-SNE by a dissimilarity with larger distances between classes.

    Affinities are ``exp(-D^2 / 2 sigma_i^2)`` of a dissimilarity D of rows and classes, with ``sigma_i`` such
    that about ``perplexity`` rows count; the descent is t-SNE's. dis1 is ``sqrt(1 - exp(-d^2 / beta))``
    within a class and ``exp(d^2 / 2 beta) - alpha`` between two, dis2 ``d / psi`` within, dis3
    ``d + mu max d`` between, and dis4, directed, ``d exp(v_i - v_j)`` within, v a column of X. A new row has
    no class: D to a fitted row is the expectation over the classes that it may have, and it minimises its own
    part of the cost. So do, with all others, rows whose class is missing in ``y``: they see the rows that
    have one.

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
    repulsion_ : {"exact", "fields", "barnes-hut"}
        How the repulsion of all pairs was computed.
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

    _learns_from_y = True
    kl_divergence_: Annotated[float, Number()]
    repulsion_: Annotated[str, Text("exact", "fields", "barnes-hut")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[DissimilarRowsMap, Sub(DissimilarRowsMap)]

    def __init__(
        self,
        perplexity: float | None = None,
        n_components: NComponents = 2,
        *,
        dissimilarity: Any = "dis1",
        unlabelled: Unlabelled = "votes",
        init: Any = "pca",
        metric: RowMetric = "euclidean",
        max_iter: MaxIter = 750,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        rows, (random, seed) = data.labelled, seeded(self.random_state)
        perplexity = default_perplexity(self.perplexity, len(rows))
        n_votes = max(round(np.sqrt(len(rows))), 1)
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, n_votes, n_jobs)
        table = data.table[np.ix_(rows, rows)] if data.precomputed else data.table[rows]
        index, measure = measured(self.dissimilarity, np.ascontiguousarray(table), data, n_jobs)
        knn = class_lists(classes, index, measure, neighbors_for_perplexity(perplexity, len(rows)), n_jobs)
        P = student_affinities(knn, perplexity, n_jobs)
        loss = StudentNeighbors(P, n_components=d, n_jobs=n_jobs)
        distances = NearestRows.fit(data, seed, n_jobs).distances(n_jobs)
        Z = descend(loss, distances, schedule(int(self.max_iter)), self.init, d, random)
        Z = merged_embedding(data, Z)
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        layout = StudentLayout(Z, loss.dof, loss.repulsion)
        new_rows = DissimilarRowsMap(DissimilarRows(classes, measure), affinities, layout)
        return self._set_fit(Z, new_rows, kl_divergence_=loss.divergence(Z), repulsion_=loss.repulsion,
                             n_iter_=self.max_iter)  # fmt: skip


def measured(choice: Any, table: np.ndarray, data: TrainingData, n_jobs: int | None) -> tuple[Any, Any]:
    """Index of the rows with a class for a dissimilarity, and the dissimilarity."""
    metric: Metric = data.metric
    labels = data.labels[data.labelled]
    if isinstance(choice, Dis4):
        return DirectedIndex(table, labels, metric), fitted_column(choice, table, metric)
    measure = dissimilarity_of(choice, table, labels, metric=metric, directed=True, n_jobs=n_jobs)
    return ClassIndex(table, labels, metric), measure


def class_lists(classes: ClassModel, index: Any, measure: Any, k: int, n_jobs: int | None) -> Neighbors:
    """The k rows nearest to each by the dissimilarity, among those with a class."""
    data = classes.data
    X, rows, others = data.table, data.labelled, np.flatnonzero(data.labels < 0)
    indices, values = np.empty((data.n, k), np.int32), np.empty((data.n, k))
    near, values[rows] = index.neighbor_lists(k, measure, n_jobs)
    indices[rows] = rows[near]
    if len(others):
        new = X[np.ix_(others, rows)] if data.precomputed else X[others]
        near, values[others] = index.nearest(new, k, measure, classes.guesses, n_jobs)
        indices[others] = rows[near]
    return Neighbors(indices, values, metric_name(data.metric), exact=True)
