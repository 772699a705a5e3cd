"""The seam of neighbour embeddings: lists of rows and of new ones, starts, and what is kept."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

import isentropic
import laws
from isentropic import METHODS, Diffusion, Geodesic, Knn, Neighbors
from isentropic._core.errors import InvalidInputError, NeighborsClippedWarning, TableWarning
from isentropic._core.runtime import generator
from isentropic._core.state import Array, Sub
from isentropic.affinities import neighbor_graph
from isentropic.embedding.embedder import Embedder
from isentropic.embedding.maps.row_optimizer import NearestRows
from isentropic.embedding.training_data import Part, training_data
from isentropic.methods.neighbor.tsne_stages import initial_embedding, merged_embedding, neighbor_lists
from isentropic.neighbors import nearest_neighbors
from naive_walks import naive_diffusion, naive_walk


@dataclass(frozen=True, eq=False)
class MeanPlaces(Part):
    """A new row goes to the mean of its neighbours."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    Z: Annotated[np.ndarray, Array("n", "d")]

    @property
    def data(self):
        return self.query.data

    def transform(self, X, n_jobs):
        return self.Z[self.query.nearest(X, 4, n_jobs)[0]].mean(axis=1)


class MeanMap(Embedder):
    """Each row starts at its component, and moves to the mean of its neighbours; so do new ones."""

    def __init__(self, n_components=2, *, init="pca", metric="euclidean", neighbors=None, n_jobs=None):
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        data = training_data(self, X)
        query = NearestRows.fit(data, 0, self.n_jobs)
        distances = query.distances(self.n_jobs)
        lists = neighbor_lists(distances, 4, self.metric, 0, self.neighbors)
        start = self._start(distances, generator(0))
        Z = merged_embedding(data, start[lists.indices].mean(axis=1))
        return self._set_fit(Z, MeanPlaces(query, Z), lists_=lists, start_=start)

    def _start(self, distances, random):
        return initial_embedding(distances, self.init, self.n_components, random)


MAPS = ("t-sne", "sne", "global-t-sne", "multiscale-sne", "multiscale-t-sne", "umap", "pacmap", "trimap")
X, NEW = laws.numbers(0, 60), laws.numbers(1, 9)
GEODESIC, DIFFUSION = Geodesic(5), Diffusion(5, t=3, sigma=2.0, alpha=0.5)


def nearest(D, own):
    """Plain lists: the four nearest, by distance, then by number."""
    D = D.copy()
    if own:
        np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :4]
    return order, np.take_along_axis(D, order, axis=1)


def graph_distances(new=None):
    graph = neighbor_graph(X, Knn(5))
    G = shortest_path(csr_array((graph.weights, graph.indices, graph.indptr), shape=(60, 60)))
    if new is None:
        return G
    D = cdist(new, X)
    entries = np.argsort(D, axis=1, kind="stable")[:, :5]
    return np.array([(D[i, near][:, None] + G[near]).min(axis=0) for i, near in enumerate(entries)])


def spread_over_graph(new=None):
    P, phi, q = naive_walk(X, 5, 2.0, 0.5)
    if new is None:
        return naive_diffusion(P, phi, 3)
    first, D = np.zeros((len(new), 60)), cdist(new, X)
    for i, near in enumerate(np.argsort(D, axis=1, kind="stable")[:, :6]):
        first[i, near] = np.exp(-(D[i, near] ** 2) / 2.0) / np.sqrt(q[near])
    return naive_diffusion(P, phi, 3, first / first.sum(axis=1, keepdims=True))


CASES = {
    "euclidean": ("euclidean", X, NEW, cdist(X, X), cdist(NEW, X)),
    "manhattan": ("manhattan", X, NEW, cdist(X, X, "cityblock"), cdist(NEW, X, "cityblock")),
    "precomputed": ("precomputed", cdist(X, X), cdist(NEW, X), cdist(X, X), cdist(NEW, X)),
    "geodesic": (GEODESIC, X, NEW, graph_distances(), graph_distances(NEW)),
    "diffusion": (DIFFUSION, X, NEW, spread_over_graph(), spread_over_graph(NEW)),
}


@pytest.mark.parametrize("case", CASES)
def test_lists_of_rows_and_of_new_ones(case):
    metric, rows, new, D, between = CASES[case]
    fitted = MeanMap(metric=metric).fit(rows)
    for found, (order, near) in [
        ((fitted.lists_.indices, fitted.lists_.distances), nearest(D, own=True)),
        (fitted._map.query.nearest(new, 4, None), nearest(between, own=False)),
    ]:
        assert_array_equal(found[0], order)
        assert_allclose(found[1], near, rtol=1e-9)
    laws.assert_fitted_rows_stay(fitted, rows)
    laws.assert_rows_by_themselves(fitted.transform, new)


@pytest.mark.parametrize("case", CASES)
def test_a_start_tells_rows_apart_in_every_coordinate(case):
    metric, rows, *_ = CASES[case]
    start = MeanMap(metric=metric).fit(rows).start_
    assert start.shape == (60, 2)
    assert (start.std(axis=0) > 0.1 * start.std()).all()


def test_a_coordinate_without_extent_gets_a_little_noise():
    line = np.column_stack([X[:, 0], np.ones(60), np.ones(60)])
    spread = MeanMap(init="pca").fit(line).start_.std(axis=0)
    assert 1e-3 < spread[1] / spread[0] < 1e-1


def test_given_lists_are_taken():
    given = nearest_neighbors(X[::-1].copy(), Knn(6))  # of another table: not what would be found
    fitted = MeanMap(neighbors=given).fit(X)
    assert_array_equal(fitted.lists_.indices, given.indices[:, :4])
    words = r"The neighbours of a row must be at most 3 \(those in the given lists\), got 4"
    with pytest.warns(NeighborsClippedWarning, match=words):
        MeanMap(neighbors=nearest_neighbors(X, Knn(3))).fit(X)


def test_given_lists_may_be_lists_of_a_metric_by_any_of_its_names():
    found = nearest_neighbors(X, Knn(4))
    plain = Neighbors(found.indices.tolist(), found.distances.tolist(), "l2", exact=True)
    assert_array_equal(MeanMap(neighbors=plain).fit(X).lists_.indices, found.indices)
    given = MeanMap(neighbors=found, metric="precomputed").fit(cdist(X, X))
    assert_array_equal(given.lists_.indices, found.indices)
    with pytest.raises(InvalidInputError, match="neighbors must be lists of the metric 'manhattan'"):
        MeanMap(neighbors=found, metric="manhattan").fit(X)
    with pytest.raises(InvalidInputError, match="neighbors must be lists of the metric 'geodesic'"):
        MeanMap(neighbors=found, metric=GEODESIC).fit(X)


def unsound_lists():
    given = nearest_neighbors(X, Knn(5))
    indices, distances = given.indices, given.distances
    own, far, back = indices.copy(), indices.copy(), distances[:, ::-1].copy()
    own[3, 2], far[3, 2] = 3, 60
    twice = indices.copy()
    twice[3, 2] = twice[3, 1]
    return {
        "of fewer rows": (indices[:9], distances[:9]),
        "its own": (own, distances),
        "out of range": (far, distances),
        "not sorted": (indices, back),
        "missing": (indices, distances + np.nan),
        "a row twice": (twice, distances),
        "no neighbours": (indices[:, :0], distances[:, :0]),
        "no whole numbers": (indices + 0.5, distances),
        "no numbers": (indices, distances.astype(str)),
    }


@pytest.mark.parametrize("case", unsound_lists())
def test_unsound_lists_are_refused(case):
    given = Neighbors(*unsound_lists()[case], "euclidean", exact=True)
    with pytest.raises(InvalidInputError, match="neighbors must be"):
        MeanMap(neighbors=given).fit(X)


@pytest.mark.parametrize("init", ["spectral", X[:, :1], np.full((60, 2), np.nan), np.ones((60, 2))],
                         ids=["name", "shape", "missing", "one place"])  # fmt: skip
def test_unsound_starts_are_refused(init):
    with pytest.raises(InvalidInputError, match="init must be"):
        MeanMap(init=init).fit(X)


def test_a_map_that_is_not_finite_is_refused_and_the_fitted_one_stays(monkeypatch):
    fitted = MeanMap().fit(X)
    places = fitted.transform(NEW)
    monkeypatch.setattr(MeanMap, "_start", lambda self, distances, random: np.full((60, 2), np.inf))
    words = r"The coordinates of row 0 must be finite, got \[inf, inf\]\. Take parameters nearer"
    with pytest.raises(InvalidInputError, match=words):
        fitted.fit(X)
    assert_array_equal(fitted.transform(NEW), places)


def test_a_place_that_is_not_finite_is_told_by_its_row(monkeypatch):
    fitted = MeanMap().fit(X)
    monkeypatch.setattr(
        MeanPlaces, "transform", lambda self, X, n_jobs: np.where(X[:, :2] == NEW[2, :2], np.nan, 0.0)
    )
    words = r"The coordinates of row 2 must be finite, got \[nan, nan\]\. These rows are too far"
    with pytest.raises(InvalidInputError, match=words):
        fitted.transform(NEW)


@pytest.mark.parametrize(
    ("metric", "table"), [("euclidean", np.ones((9, 3))), ("precomputed", np.zeros((9, 9)))]
)
def test_equal_rows_are_told(metric, table):
    with pytest.warns(TableWarning, match="All rows are equal, and so are their places. Look for a column"):
        MeanMap(metric=metric).fit(table)


def test_rows_of_which_two_are_equal_are_not_told_and_have_one_place():
    places = MeanMap(init="random").fit(X[[*range(60), 0]]).embedding_
    assert_array_equal(places[0], places[60])
    assert (places[1] != places[60]).any()


@pytest.mark.parametrize("name", MAPS)
def test_an_interrupted_refit_changes_nothing(name, monkeypatch):
    """However late it comes, and also what is told of the features."""
    fitted = METHODS[name].load()().fit(X)
    before = dict(vars(fitted))
    set_fit = Embedder._set_fit

    def interrupted(self, *parts, **fitted):
        set_fit(self, *parts, **fitted)
        raise KeyboardInterrupt

    monkeypatch.setattr(Embedder, "_set_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:50, :2] + 0.5)
    after = vars(fitted)
    assert after.keys() == before.keys()
    assert all(after[part] is before[part] for part in before)


def test_a_start_without_extent_is_a_random_one_and_warned_of():
    """Classical scaling of 500 drawn rows that are all equal, though one of the others is not."""
    rows = np.ones((600, 3))
    rows[7] = [1, 2, 3]
    estimator = isentropic.TSNE(metric="cosine", perplexity=5, max_iter=2, random_state=1)
    with pytest.warns(TableWarning, match="initialization has no extent.*seeded by random_state"):
        Z = estimator.fit_transform(rows)
    assert np.ptp(Z, axis=0).all()
    with pytest.warns(TableWarning, match="no extent"):
        assert_array_equal(estimator.fit_transform(rows), Z)
