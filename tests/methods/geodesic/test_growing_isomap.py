"""Rows appended to a fitted ISOMAP: the map of a fit on all rows, whatever comes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigvalsh
from scipy.spatial.distance import squareform
from sklearn.datasets import make_swiss_roll

import isentropic
from isentropic import InvalidInputError, Isomap, Knn, Radius
from isentropic._core.runtime import one_blas_thread
from isentropic.geodesics import all_pairs
from isentropic.methods.geodesic.isomap import growth_of
from isentropic.neighbors import appended_lists, lists_of_graph, nearest_neighbors

pytestmark = [
    pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning"),
    pytest.mark.filterwarnings("ignore::isentropic.NeighborsClippedWarning"),
    pytest.mark.filterwarnings("ignore:.*is added to all distances:isentropic.IsentropicWarning"),
]


def roll(n, seed=0):
    return make_swiss_roll(n, random_state=seed)[0]


def assert_refitted(model, X):
    """The state of a fit on all rows: graph to the bit, paths to rounding, the map where it is determined."""
    again = Isomap(**model.get_params()).fit(X)
    for part in ("indptr", "indices", "weights", "components", "bridges"):
        assert_array_equal(getattr(model.graph_, part), getattr(again.graph_, part))
    assert_allclose(model.eigenvalues_, again.eigenvalues_, rtol=1e-8)
    assert_allclose(model.residual_variance_, again.residual_variance_, atol=1e-8)
    assert_allclose(model.euclidean_defect_, again.euclidean_defect_, atol=1e-8)
    width = np.abs(again.embedding_).max()
    if model.landmarks_ is not None:
        assert_array_equal(model.landmarks_, again.landmarks_)
        assert_allclose(model._map.landmark_geodesics, again._map.landmark_geodesics, rtol=1e-12)
    elif assert_same_geodesics(model, again) < 1e-4:
        return  # the map may turn: eigenvalues are as close as that
    assert_allclose(model.embedding_, again.embedding_, atol=1e-6 * width)
    new = X[:5] + 0.01
    assert_allclose(model.transform(new), again.transform(new), atol=1e-6 * width)
    assert_array_equal(model.transform(X[-5:]), model.embedding_[-5:])


def assert_same_geodesics(model, again):
    """Those that the model keeps; returns the least gap between the leading eigenvalues."""
    G = squareform(all_pairs(again.graph_))
    kept = getattr(model, "_paths", None)
    if kept is not None:
        assert_allclose(kept.distances, G[np.ix_(kept.rows, kept.rows)], rtol=1e-12, atol=1e-13)
    B = G**2 - (G**2).mean(axis=0)
    n, d = len(B), model.n_components
    with one_blas_thread():  # short calls, between kernels
        values = eigvalsh(-0.5 * (B - B.mean(axis=1)[:, None]), subset_by_index=(max(n - d - 1, 0), n - 1))
    return float(np.diff(values).min() / values[-1])


def test_batches_one_after_the_other_are_a_fit_on_all():
    X = roll(420)
    model = Isomap(n_neighbors=8).fit(X[:300])
    kinds = []
    for start, stop in ((300, 301), (301, 302), (302, 303), (303, 320), (320, 420)):
        assert model.partial_fit(X[start:stop]) is model
        kinds.append(model.update_.kind)
        assert (model.update_.affected == 1) == (kinds[-1] == "appended")
        assert_refitted(model, X[:stop])
    assert kinds[:3] == ["appended", "repaired", "repaired"]  # the first one finds no paths to repair
    assert kinds[-1] == "appended"  # a third of all rows is new


def batch(random, seen, number):
    """Rows of a stream: near, equal to old ones, to each other, far, a new part, a way between parts."""
    near = seen[random.integers(0, len(seen), 3)] + 0.1 * random.normal(size=(3, seen.shape[1]))
    kinds = (
        lambda: near,
        lambda: seen[random.integers(0, len(seen), 4)],
        lambda: np.repeat(near[:1], 9, axis=0),
        lambda: near + 60.0,
        lambda: random.normal(size=(12, seen.shape[1])) - 30.0,
        lambda: np.linspace(seen.mean(axis=0), seen.max(axis=0) + 1.0, 7),
        lambda: seen.max(axis=0) + 5.0 + 0.1 * random.normal(size=(2, seen.shape[1])),
    )
    return kinds[number % len(kinds)]()


@pytest.mark.parametrize(("seed", "n_landmarks"), [(0, None), (2, 12)])
def test_a_stream_with_duplicates_far_rows_and_parts_that_join(seed, n_landmarks):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3)) * [9, 5, 1]
    model = Isomap(n_neighbors=5, n_landmarks=n_landmarks).fit(X)
    kinds, parts = [], []
    for _ in range(50):
        more = batch(random, X, random.integers(7))
        X = np.concatenate([X, more])
        model.partial_fit(more, align_to_previous=False)
        kinds.append(model.update_.kind)
        parts.append(model.graph_.n_components)
        assert_refitted(model, X)
    assert set(kinds) == {"appended", "repaired"}
    assert {-1, 1} <= set(np.sign(np.diff(parts)))  # they joined and split


def test_rows_in_many_batches_are_a_fit_on_all():
    X = roll(420)
    model = Isomap(n_neighbors=8).fit(X[:300])
    for start in range(300, 420, 3):
        model.partial_fit(X[start : start + 3])
    assert_refitted(model, X)


def test_what_one_call_interrupted_the_next_one_does_anew(monkeypatch):
    X = roll(320)
    model = Isomap(n_neighbors=8).fit(X[:300]).partial_fit(X[300:301])

    def interrupt(self, G, sources, **kwargs):
        G[:5] += 1.0  # some rows are changed by then
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(isentropic.geodesics.growing_graph.Repair, "rows", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[301:302])
    assert model.transform(X[300:301]).tolist() == model.embedding_[300:].tolist()
    model.partial_fit(X[301:302])
    assert model.update_.kind == "appended"
    assert_refitted(model, X[:302])


def test_without_memory_for_whole_rows_nothing_is_kept(monkeypatch):
    X = roll(303)
    model = Isomap(n_neighbors=8).fit(X[:300])
    monkeypatch.setattr(isentropic.geodesics.GrowingPaths, "fit_memory", staticmethod(lambda n: False))
    for n in (301, 302):
        model.partial_fit(X[n - 1 : n])
        assert growth_of(model._map).paths is None
        assert model.update_.kind == "appended"
        assert_refitted(model, X[:n])


def test_the_table_may_grow_from_less_than_k_rows():
    X = roll(240)
    model = Isomap(n_neighbors=12).partial_fit(X[:6])
    assert model.update_.kind == "fit"
    model.partial_fit(X[6:230])
    assert model.update_.kind == "refit"  # lists of 5 are no lists of 12
    model.partial_fit(X[230:])
    assert model.update_.kind == "appended"
    assert_refitted(model, X)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"n_landmarks": 20}, "repaired"),
        ({"n_landmarks": 20, "on_disconnected": "inflate"}, "repaired"),
        ({"positive": True, "n_components": 3}, "appended"),
        ({"conformal": True}, "refit"),
        ({"neighbors": Radius(6.0)}, "refit"),
        ({"neighbors": Knn(7, approximate=False)}, "appended"),
        ({"on_disconnected": "inflate"}, "appended"),
        ({"metric": "manhattan"}, "appended"),
    ],
)
def test_every_choice_grows(params, kind):
    X = roll(260)
    model = Isomap(**params).fit(X[:250]).partial_fit(X[250:])
    assert model.update_.kind == kind
    assert_refitted(model, X)


def test_the_largest_part_grows_by_a_refit():
    X = np.concatenate([roll(200), roll(8) + 200.0])
    model = Isomap(n_neighbors=6, on_disconnected="largest").fit(X[:-1])
    model.partial_fit(X[-1:])
    assert model.update_.kind == "refit"
    assert_refitted(model, X)


def test_changed_parameters_count():
    X = roll(260)
    model = Isomap(n_neighbors=8).fit(X[:250]).set_params(n_neighbors=11, n_components=3)
    model.partial_fit(X[250:])
    assert model.update_.kind == "refit"
    assert_refitted(model, X)


def test_a_row_near_to_all_takes_a_place_in_every_list():
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    X = np.concatenate(
        [np.column_stack([np.cos(angle), np.sin(angle), 40.0 * np.eye(40)]), np.zeros((1, 42))]
    )
    model = Isomap(n_neighbors=3).fit(X[:-1]).partial_fit(X[-1:])
    model.partial_fit(X[-1:])
    assert_refitted(model, np.concatenate([X, X[-1:]]))


def test_aligned_maps_keep_old_rows_in_place_and_place_new_ones_there():
    X = roll(330)
    model = Isomap(n_neighbors=8).fit(X[:300])
    before = model.embedding_ * [1, -1]
    model.embedding_ = before.copy()  # as if the map had been turned before
    model.partial_fit(X[300:], align_to_previous=True)
    plain = Isomap(n_neighbors=8).fit(X).embedding_
    gap = np.linalg.norm(model.embedding_[:300] - before)
    assert gap < 0.2 * np.linalg.norm(plain[:300] - before)
    assert_allclose(np.linalg.norm(model.embedding_, axis=1), np.linalg.norm(plain, axis=1), rtol=1e-6)
    new = X[:20] + 1e-6
    assert_allclose(model.transform(new), model.embedding_[:20], atol=1e-2)


def test_lists_found_in_the_graph_are_those_of_the_search():
    X = np.array([[i % 11, i // 11 % 9] for i in range(150)], float)  # ties, and duplicates
    found = nearest_neighbors(X, Knn(5))
    graph = isentropic.neighbors.graph_of_lists(X, found)
    again = lists_of_graph(X, graph, 5)
    assert_array_equal(again.indices, found.indices)
    assert_array_equal(again.distances, found.distances)
    grown = appended_lists(X, nearest_neighbors(X[:140], Knn(5)))
    assert_array_equal(grown.indices, found.indices)
    assert_array_equal(grown.distances, found.distances)


def test_a_grown_model_is_saved_and_grows_on(tmp_path):
    X = roll(300)
    model = Isomap(n_neighbors=8).fit(X[:280]).partial_fit(X[280:290])
    isentropic.save(model, tmp_path / "roll.isentropic")
    loaded = isentropic.load(tmp_path / "roll.isentropic")
    assert loaded.update_ == model.update_
    assert not hasattr(loaded, "_paths")  # 8 n^2 bytes, which the graph gives again
    assert not hasattr(pickle.loads(pickle.dumps(model)), "_paths")
    assert_refitted(loaded.partial_fit(X[290:]), X)
    loaded.fit(X)
    assert not hasattr(loaded, "update_")


@pytest.mark.parametrize("kind", ["appended", "refit"])
def test_names_of_columns_stay(kind):
    frame = pd.DataFrame(roll(260), columns=["x", "y", "z"])
    model = Isomap(conformal=kind == "refit").fit(frame[:250]).partial_fit(frame[250:])
    assert model.update_.kind == kind
    assert list(model.feature_names_in_) == ["x", "y", "z"]


def test_what_cannot_be_appended_is_refused_and_changes_nothing():
    X = roll(260)
    model = Isomap(n_neighbors=8).fit(X[:250])
    before = model.embedding_.copy()
    for bad, said in ((X[:, :2], "features"), (X[:2] * np.nan, "NaN")):
        with pytest.raises(ValueError, match=said):
            model.partial_fit(bad)
    with pytest.raises(InvalidInputError, match="align_to_previous"):
        model.partial_fit(X[250:], align_to_previous="yes")
    assert_array_equal(model.embedding_, before)
    D = np.sqrt(((X[:60, None] - X[:60]) ** 2).sum(axis=2))
    given = Isomap(metric="precomputed").fit(D)
    assert not hasattr(given, "partial_fit")
    with pytest.raises(InvalidInputError, match="fit them anew"):
        given.set_params(metric="euclidean").partial_fit(X[:60])
