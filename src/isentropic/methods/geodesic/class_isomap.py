"""Isomap that knows classes: by dissimilarities of classes (supervised) or by their divergences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Choice, Real
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Maybe, Number, OneOf, StateError, Tuple, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...dissimilarities import (
    Added,
    ClassIndex,
    Exponential,
    Shrunk,
    checked_dissimilarity,
    checked_scale,
    class_gaussians,
    expected_shares,
    mean_between,
)
from ...divergences import EDGE_DIVERGENCES
from ...embedding.class_model import ClassModel, class_divergences, class_graph, dissimilarity_of
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.maps.geodesic import GeodesicMap, NeighborEdges, NeighborGeodesicMap
from ...embedding.training_data import NComponents, NJobs, Part, RowMetric, Unlabelled, labelled_training_data
from ...neighbors import QueryEdges, as_rule, clipped_neighbors, graph_of_rows
from .geodesic_scaling import Policy, embedded_component, geodesic_results, scaled_geodesics

# ---- Lengths of paths blended with what lies between the classes of their ends -------------------


_PAIRS_AT_ONCE = 2**22  # entries of the triangle in a block of rows


@dataclass(frozen=True, slots=True)
class ClassBlend:
    """``alpha G + (1 - alpha) s p' DE q``, p and q the shares of classes of two rows. In place, no other n×n.

    Shares are 1 for the class of a row that has one; all 0 leave the term of the classes out.
    """

    alpha: float
    between: np.ndarray  # (c, c): (1 - alpha) s DE
    shares: np.ndarray  # (g, c) of the rows of a graph

    def of_pairs(self, G: np.ndarray) -> None:
        """Condensed distances between all rows of the graph."""
        n = len(self.shares)
        G *= self.alpha
        start = 0
        for block in row_blocks(n - 1, "classes", size=max(1, _PAIRS_AT_ONCE // n)):
            for i in range(block.start, block.stop):
                mine = expected_shares(self.shares[i : i + 1], self.between)
                G[start : start + n - 1 - i] += summed(mine, self.shares[i + 1 :])[0]
                start += n - 1 - i

    def of_rows(self, G: np.ndarray, shares: np.ndarray | None, references: np.ndarray | None = None) -> None:
        """Distances (b, r) of any rows, by their shares, to rows of the graph, all or some of them."""
        G *= self.alpha
        if shares is not None:
            others = self.shares if references is None else self.shares[references]
            G += summed(expected_shares(shares, self.between), others)


def summed(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``rows @ others.T``, summed class by class, so that no batch changes a bit."""
    total = np.zeros((len(rows), len(others)))
    for c in range(others.shape[1]):
        total += rows[:, c, None] * others[:, c]
    return total


def mean_of_pairs(G: np.ndarray, codes: np.ndarray) -> float:
    """Mean of condensed distances over the pairs of rows of two classes; 0 where there is none."""
    n, start, total, count = len(codes), 0, 0.0, 0
    for i in range(n - 1):
        apart = (codes[i + 1 :] != codes[i]) & (codes[i + 1 :] >= 0) & (codes[i] >= 0)
        total += float(G[start : start + n - 1 - i][apart].sum())
        count += int(np.count_nonzero(apart))
        start += n - 1 - i
    return total / count if count else 0.0


def mean_of_rows(G: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> float:
    """The same of distances (b, r) from rows of classes ``heads`` to those of classes ``tails``."""
    apart = (heads[:, None] != tails) & (heads[:, None] >= 0) & (tails >= 0)
    return float(G[apart].mean()) if apart.any() else 0.0


@dataclass(frozen=True, eq=False)
class ClassLengths(Part):
    """Blends the lengths of paths with the divergences between the classes of their ends."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    alpha: Annotated[float, Double(0, most=1)]
    divergences: Annotated[np.ndarray, Array("c", "c", least=0)]
    scale: Annotated[float, Double(0)]  # of divergences
    shares: Annotated[np.ndarray, Array("r", "c", least=0)]  # of the classes, for each reference

    def of_new(self, X: np.ndarray, G: np.ndarray, n_jobs: int | None) -> None:
        """Change the lengths of the paths of new rows to the references, in place."""
        self.blend.of_rows(G, self.classes.shares(X, n_jobs))

    @cached_property
    def blend(self) -> ClassBlend:
        """Blend the lengths between training rows, in place."""
        return ClassBlend(self.alpha, (1.0 - self.alpha) * self.scale * self.divergences, self.shares)


class ClassBlendMap(NeighborGeodesicMap):
    """The out-of-sample map of class ISOMAP."""

    lengths: Annotated[ClassLengths, Sub(ClassLengths)]


class ClassIsomap(Embedder):
    """ISOMAP that blends geodesics with divergences between the Gaussians of the classes.

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
        What to do about a disconnected graph, as in ISOMAP.
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

    _learns_from_y = True
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    divergences_: Annotated[np.ndarray, Array("c", "c", least=0)]
    scale_: Annotated[float, Double(0)]
    _map: Annotated[ClassBlendMap, Sub(ClassBlendMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        alpha: Annotated[float, Real("a number in [0, 1]", most=1)] = 0.5,
        divergence: Annotated[str, Choice(*EDGE_DIVERGENCES)] = "kl",
        scale: str | None = "match",
        unlabelled: Unlabelled = "posterior",
        n_landmarks: Any = None,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        checked_scale(self.scale)
        data, policy, n_jobs = labelled_training_data(self, X, y), self.on_disconnected, self.n_jobs
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        rule, rows = as_rule(self.n_neighbors), data.labelled
        graph = graph_of_rows(data.X, rule, on_disconnected=policy, random_state=self.random_state,
                               n_jobs=n_jobs)  # fmt: skip
        gaussians = class_gaussians(data.X[rows], data.labels[rows])
        divergences = class_divergences(gaussians, self.divergence)
        classes = ClassModel.fit(
            data, len(self.classes_), self.unlabelled, self.n_neighbors, n_jobs, gaussians
        )
        nodes, graph = embedded_component(graph, policy)

        def blend(G: np.ndarray, landmarks: np.ndarray | None) -> ClassLengths:
            return blended(G, landmarks, nodes, classes, divergences, float(self.alpha), self.scale)

        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy, blend=blend,
                                 random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        Z, paths, results = geodesic_results(ClassBlendMap, data, nodes, NeighborEdges(rule), found, n_jobs)
        return self._set_fit(Z, paths, divergences_=divergences, scale_=found.lengths.scale, **results)


def blended(
    G: np.ndarray,
    landmarks: np.ndarray | None,
    nodes: np.ndarray,
    classes: ClassModel,
    divergences: np.ndarray,
    alpha: float,
    scale: str | None,
) -> ClassLengths:
    """Blend the lengths of paths in place; returns what blends those of new rows."""
    labels, shares = classes.data.labels[nodes], classes.training.shares(nodes)
    factor = 1.0 if scale is None else _matched(G, labels, landmarks, divergences)
    lengths = ClassLengths(classes, alpha, divergences, factor, shares)
    if landmarks is None:
        lengths.blend.of_pairs(G)
        return lengths
    lengths.blend.of_rows(G, shares[landmarks])
    return ClassLengths(classes, alpha, divergences, factor, shares[landmarks])


def _matched(
    G: np.ndarray, labels: np.ndarray, landmarks: np.ndarray | None, divergences: np.ndarray
) -> float:
    """The factor by which the mean of the divergences becomes that of the geodesics."""
    heads = labels if landmarks is None else labels[landmarks]
    long = mean_of_pairs(G, labels) if landmarks is None else mean_of_rows(G, heads, labels)
    sizes = (np.bincount(some[some >= 0], minlength=len(divergences)) for some in (heads, labels))
    wide = mean_between(divergences, *sizes)
    return long / wide if wide > 0 and long > 0 else 1.0


@dataclass(frozen=True, eq=False)
class ClassEdges(Part):
    """A new row enters the graph at its nearest nodes by the dissimilarity, expected over its classes."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    nodes: Annotated[np.ndarray, Array("g", dtype=np.int64, below="n")]
    measure: Annotated[Any, OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"))]
    k: Annotated[int, Whole(1)]

    def of_new(self, X: np.ndarray, paths: GeodesicMap, n_jobs: int | None) -> QueryEdges:
        """The edges of new rows; the classes of their nearest nodes vote."""
        k, index = min(self.k, len(self.nodes)), self._index
        plain = Added(np.zeros((self.classes.n_classes,) * 2))

        def vote(X: np.ndarray) -> np.ndarray:
            return index.classes[index.nearest(X, k, plain, None, n_jobs)[0]]

        return QueryEdges(*index.nearest(X, k, self.measure, self.classes.shares(X, n_jobs, vote), n_jobs))

    @cached_property
    def _index(self) -> ClassIndex:
        data = self.classes.data
        rows = np.empty((len(self.nodes), 0)) if data.X is None else data.X[self.nodes]
        return ClassIndex(rows, data.labels[self.nodes], data.metric)

    def _require_sound(self) -> None:
        if (self.classes.data.labels[self.nodes] < 0).any():
            raise StateError("nodes", "must be rows with a class")


class ClassGraphMap(GeodesicMap):
    """The out-of-sample map of supervised ISOMAP."""

    edges: Annotated[ClassEdges, Sub(ClassEdges)]


class SupervisedIsomap(Embedder):
    """ISOMAP over a dissimilarity that counts classes.

    ``"dis1"`` (ES-ISOMAP): ``sqrt(1 - exp(-d^2 / beta))`` within a class, ``exp(d^2 / 2 beta) - alpha``
    between classes. ``"dis2"`` (WeightedIso): ``d / psi`` within, d between. ``"dis3"``: d within,
    ``d + mu max d`` between. The k nearest by it make the graph, its values the lengths of the edges, and
    shortest paths and classical scaling follow as in ISOMAP. Where classes lie apart the graph is in parts:
    the shortest edges between them, in the data, join them.

    Fitted rows are separated by construction, also by labels that were drawn at random. A new row has no
    label: its dissimilarity to a fitted row is ``p within + (1 - p) between``, p the share of that row's
    class among its k nearest fitted rows. So the map of new rows tells classes as k-NN on the data does.

    Cost: ``O(n^2 (k + log n))`` time and ``4 n^2`` bytes, as ISOMAP, and a search in each class; with l
    landmarks ``O(l n (k + log n))`` and ``8 l n`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row by the dissimilarity, and the voters for a new one.
    n_components : int
        Dimension of the map.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3 or ClassDivergence
        As above, with ``Dis1(alpha, beta)``, ``Dis2(psi)``, ``Dis3(mu)`` for other numbers; the last adds
        the divergence between classes to distances.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of the class of a new row: as above; by a Gaussian for each class; or nothing, as if
        it had everybody's class.
    metric : str or callable
        Of d: any metric of scikit-learn, or ``"precomputed"``.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a disconnected graph, as in ISOMAP.
    random_state : int, RandomState or None
        For random landmarks. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(G, D_Z)^2``, G the geodesics.
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum, which no map can show.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        Of the rows with a class; its weights are dissimilarities, and ``bridges`` what joins its parts.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Geng, Zhan and Zhou (2005). Vlachos and others (2002). Hajderanj (2022).

    Examples
    --------
    >>> import warnings
    >>> from isentropic import SupervisedIsomap, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # of a graph in parts: the classes
    ...     isomap = SupervisedIsomap().fit(iris.X[::2], iris.y[::2])
    >>> isomap.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _learns_from_y = True
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    _map: Annotated[ClassGraphMap, Sub(ClassGraphMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        dissimilarity: Any = "dis1",
        unlabelled: Unlabelled = "votes",
        metric: RowMetric = "euclidean",
        n_landmarks: Any = None,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.unlabelled = unlabelled
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Nearest rows by the dissimilarity, their graph, geodesics, classical scaling."""
        checked_dissimilarity(self.dissimilarity)
        data, policy, n_jobs = labelled_training_data(self, X, y), self.on_disconnected, self.n_jobs
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        rows, metric, table = data.labelled, self.metric, data.table
        if len(rows) < data.n:
            table = np.ascontiguousarray(table[np.ix_(rows, rows)] if data.precomputed else table[rows])
        labels = data.labels[rows]
        k = clipped_neighbors(self.n_neighbors, len(rows) - 1)
        measure = dissimilarity_of(self.dissimilarity, table, labels, metric=metric, n_jobs=n_jobs)
        graph = class_graph(table, labels, measure, k, metric=metric, on_disconnected=policy, n_jobs=n_jobs)
        nodes, graph = embedded_component(graph, policy, rows)
        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                 random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, k, n_jobs, guess=False)
        edges = ClassEdges(classes, nodes, measure, k)
        Z, paths, results = geodesic_results(ClassGraphMap, data, nodes, edges, found, n_jobs)
        return self._set_fit(Z, paths, **results)
