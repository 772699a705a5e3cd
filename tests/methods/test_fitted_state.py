"""What was fitted stays fitted: whatever is done to the data, the parameters or the process afterwards."""

import copy
import pickle
import re
import warnings
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone

import cases
import isentropic
import laws
from isentropic import FileFormatError, Isomap, Knn, Landmarks, LandmarksClippedWarning, LowRecallWarning
from isentropic._core.models import saving as _saving
from isentropic._core.state import StateError, attributes, field_specs, require_state
from isentropic._core.values import NeighborGraph, Neighbors
from isentropic.neighbors import search as nn_descent
from isentropic.registry import METHODS
from model_fuzz import reworded

NAMES = sorted(METHODS)


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 4))


@pytest.fixture
def new(rng):
    return rng.normal(size=(6, 4))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("isomap", {"n_neighbors": 3, "metric": "manhattan", "n_components": 1}),
        ("landmark-isomap", {"n_neighbors": 3, "n_landmarks": 9}),
        ("classical-mds", {"metric": "manhattan", "n_components": 3}),
        ("pca", {"whiten": True, "n_components": 1}),
    ],
)
def test_new_parameters_wait_for_the_next_fit(name, changes, X, new):
    fitted = laws.fit(isentropic.make(name), X)
    placed = fitted.transform(new)
    fitted.set_params(**changes)
    assert_array_equal(fitted.transform(new), placed)


@pytest.mark.parametrize("rule", ["maxmin", "random"])
def test_no_two_landmarks_are_equal(rule, rng):
    X = np.repeat(rng.normal(size=(30, 3)), 10, axis=0)
    chosen = Isomap(60, n_landmarks=Landmarks(20, rule)).fit(X).landmarks_
    assert len(np.unique(X[chosen], axis=0)) == 20
    match = r"at most 30 \(the distinct rows\), got 50: 30 are used"
    with pytest.warns(LandmarksClippedWarning, match=match):
        assert len(Isomap(60, n_landmarks=Landmarks(50, rule)).fit(X).landmarks_) == 30


def test_repeated_rows_do_not_weigh_the_landmarks(rng):
    X = rng.uniform(size=(40, 2)) * [2, 1]
    once = Isomap(8, n_landmarks=39).fit(X)
    with pytest.warns(LandmarksClippedWarning):
        twice = Isomap(17, n_landmarks=60).fit(np.vstack([X, X]))
    assert len(twice.landmarks_) == 40
    assert abs(np.ptp(twice.embedding_, axis=0) / np.ptp(once.embedding_, axis=0) - 1).max() < 0.15


@pytest.mark.parametrize("groups", [5, 600])
def test_hundreds_of_equal_rows_in_an_approximate_graph(rng, groups):
    X = np.repeat(rng.normal(size=(groups, 16)), 1000 // groups + 1, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", isentropic.DisconnectedGraphWarning)
        fitted = Isomap(neighbors=Knn(5, exact_below=500)).fit(X)
    assert not fitted.graph_.exact
    assert np.isfinite(fitted.embedding_).all()


def test_a_search_that_misses_neighbours_says_so(rng, monkeypatch):
    monkeypatch.setattr(nn_descent, "_ROUNDS", 0)  # trees alone: a descent would find nearly all of them
    with pytest.warns(LowRecallWarning, match=r"found \d+% of the true neighbours of 200 rows"):
        graph = isentropic.neighbor_graph(rng.normal(size=(2000, 60)), Knn(5, approximate=True))
    assert graph.recall < 0.9


def test_a_pickle_leaves_the_index_behind(X, new):
    fitted = Isomap().fit(X)
    placed = fitted.transform(new)
    again = pickle.loads(pickle.dumps(fitted))
    assert "index" in vars(fitted._map)
    assert "index" not in vars(again._map)
    assert_array_equal(again.transform(new), placed)


def own(name):
    """A copy of the shared fit, to be spoilt."""
    return copy.deepcopy(cases.case(name).fitted)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_declares_all_that_a_fit_sets(name):
    model = cases.case(name).fitted
    assert set(model.__getstate__()) <= attributes(type(model))
    assert not {key for key, kind in field_specs(type(model)).items() if not kind.may_miss} - set(vars(model))
    require_state(model)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_fit_leaves_nothing_of_the_first(name, X, tmp_path):
    model = clone(cases.case(name).estimator)
    others = {"n_landmarks": 9, "metric": "manhattan", "on_disconnected": "largest"}
    if name == "dissimilarity-le":  # rows of a class are not left out because its classes lie apart
        del others["on_disconnected"]
    model.set_params(**{key: value for key, value in others.items() if key in model.get_params()})
    laws.fit(model, X[:60])
    model.set_params(
        **{key: value for key, value in isentropic.make(name).get_params().items() if key in others}
    )
    if METHODS[name].precomputed:
        model.set_params(metric="precomputed")
        X = cdist(X, X)
    isentropic.save(laws.fit(model, X), tmp_path / "model.isentropic")
    assert_array_equal(
        isentropic.load(tmp_path / "model.isentropic").transform(X[:5]), model.transform(X[:5])
    )


def tampered(path, model, attribute, change):
    """Save a model of which one attribute, ``a.b`` for one of its parts, is changed; no check is made."""
    *outer, name = attribute.split(".")
    holder = reduce(getattr, outer, model)
    object.__setattr__(holder, name, change(getattr(holder, name, None)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_saving, "require_state", lambda model: None)
        isentropic.save(model, path)
    return path


def refusal(path):
    with pytest.raises(FileFormatError) as caught:
        isentropic.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def shorter(array):
    return array[:-3].copy()


def with_last(value):
    def change(array):
        array = array.copy()
        array.reshape(-1)[-1] = value
        return array

    return change


TAMPERED = [
    ("landmark-isomap", "landmarks_", lambda array: array[:1]),
    ("landmark-isomap", "_map.landmarks", lambda array: array[:1]),
    ("landmark-isomap", "_map.landmarks", with_last(2**30)),
    ("isomap", "graph_.indices", with_last(2**30)),
    ("isomap", "graph_.indices", with_last(-1)),
    ("isomap", "graph_.indptr", with_last(2**40)),
    ("isomap", "graph_.indptr", with_last(0)),
    ("isomap", "graph_.weights", with_last(-1.0)),
    ("isomap", "graph_.weights", with_last(np.nan)),
    ("isomap", "graph_.components", shorter),
    ("isomap", "graph_.exact", lambda exact: "no"),
    ("isomap", "graph_", lambda graph: Neighbors(graph.indices, graph.weights, "euclidean", True)),
    ("isomap", "graph_", lambda graph: None),
    ("isomap", "_map.scaling.projection", shorter),
    ("isomap", "_map.data.X", shorter),
    ("isomap", "_map.data.X", lambda known: None),
    ("isomap", "_map.data", lambda known: None),
    ("isomap", "_map.nodes", with_last(2**30)),
    ("isomap", "_map.graph", lambda graph: None),
    ("isomap", "_map.edges.rule", lambda rule: Landmarks(3)),
    ("isomap", "_map.edges.rule.k", lambda k: -5),
    ("isomap", "_map.data.metric", lambda metric: "precomputed"),
    ("isomap", "_map.data.metric", lambda metric: "no such metric"),
    ("isomap", "n_jobs", lambda n_jobs: "all"),
    ("classical-mds", "_map.scaling.means", shorter),
    ("pca", "mean_", shorter),
    ("pca", "mean_", with_last(np.inf)),
    ("pca", "_map.components", lambda array: array.T.copy()),
    ("pca", "_map.components", lambda array: array.astype(np.float32)),
    ("pca", "_map.mean", shorter),
    ("pca", "n_features_in_", lambda m: 10**9),
    ("laplacian-eigenmaps", "graph_.indices", with_last(2**30)),
    ("laplacian-eigenmaps", "graph_.weights", with_last(-1.0)),
    ("laplacian-eigenmaps", "_map.edges.query.rows", with_last(10_000)),
    ("laplacian-eigenmaps", "_map.edges.query.data.metric", lambda metric: "manhattan"),
    ("laplacian-eigenmaps", "_map.edges.rule.k", lambda k: -5),
    ("laplacian-eigenmaps", "_map.degrees", with_last(0.0)),
    ("laplacian-eigenmaps", "_map.Z", lambda Z: 1e299 * Z),
    ("diffusion-maps", "_map.shares", shorter),
    ("diffusion-maps", "_map.steps", lambda steps: -1),
    ("dissimilarity-le", "_map.edges.k", lambda k: 10**9),
    ("dissimilarity-le", "_map.edges.classes.data.labels", with_last(7)),
    ("stochastic-le", "_map.edges.classes.divergences", shorter),
    ("supervised-le", "_map.edges.k", lambda k: 10**9),
    ("kernel-lpp", "_map.product.kind", lambda kind: "precomputed"),
    ("kernel-lpp", "_map.references", shorter),
    ("lpp", "_map.components", lambda array: array.T.copy()),
    ("lle", "_map.weights.k", lambda k: 10**9),
    ("lle", "_map.weights.regularization", lambda share: 0.0),
    ("lle", "_map.Z", shorter),
    ("slle", "_map.weights.convex", lambda convex: "no"),
    ("ltsa", "_map.patches", with_last(10_000)),
    ("ltsa", "_map.query", lambda query: None),
    ("pca", "_map.data.n", lambda n: n + 1),
    ("probabilistic-pca", "_map.linear.scales", shorter),
    ("probabilistic-pca", "_map.variances", with_last(-1.0)),
    ("kernel-pca", "_map.means", shorter),
    ("kernel-pca", "_map.references", lambda rows: rows[:, :0].copy()),
    ("kernel-pca", "_map.n_features", lambda m: m + 1),
    ("kernel-pca", "_map.landmarks", lambda none: np.arange(3)),
    ("som", "_map.nodes", shorter),
    ("som", "_map.unit", lambda unit: 0.0),
    ("gtm", "_map.precision", lambda precision: -precision),
    ("autoencoder", "_map.encoder", lambda layers: layers[1:]),
    ("autoencoder", "_map.decoder", lambda layers: layers[:1]),
    ("variational-autoencoder", "_map.n_components", lambda d: d + 1),
    ("parametric-t-sne", "_map.encoder.vector", shorter),
    ("nonlinear-pca", "_map.decoder.activations", lambda kinds: ("relu", *kinds[1:])),
    ("entropic-isomap", "neighbors_.indices", shorter),
    ("entropic-isomap", "neighbors_.indices", with_last(10_000)),
    ("entropic-isomap", "_map.edges.form", lambda form: "thin"),
    ("kde-isomap", "_map.edges.members", with_last(-4)),
    ("kde-isomap", "_map.edges.indptr", with_last(0)),
    ("kde-isomap", "_map.edges.floors", lambda floors: (floors[0], 0 * floors[1])),
    ("sdd", "_map.degrees", lambda degrees: np.ones(4000)),
    ("sdd", "_map.means", lambda means: (means[0],)),
    ("sdd", "_map.unit", lambda unit: 2**63),
    ("sdd", "_map.unit", lambda unit: np.nan),
    ("sdd", "_map.means", lambda means: None),
    ("multi-sdd", "_map.means", lambda means: tuple(mean[:1].copy() for mean in means)),
    ("parameter-free-sdd", "_map.references", with_last(10_000)),
    ("parameter-free-sdd", "_map.references", lambda array: array[:0]),
    ("parameter-free-sdd", "_map.query.data.X", shorter),
    ("t-sne", "_map.layout.Z", shorter),
    ("t-sne", "_map.query.data.X", shorter),
    ("t-sne", "_map.query.data.metric", lambda metric: "precomputed"),
    ("t-sne", "_map.query.data", lambda data: None),
    ("t-sne", "_map.affinities.k", lambda k: 10**9),
    ("t-sne", "_map.layout", lambda layout: layout.Z),
    ("t-sne", "_map", lambda found: found.layout),
    ("sgt-sne", "_map.query.classes.n_classes", lambda count: 10**9),
    ("sgt-sne", "_map.query.classes.data.labels", with_last(7)),
    ("sgt-sne", "_map.query.graph.indices", with_last(2**30)),
    ("set-sne", "_map.query.neighbors", with_last(10_000)),
    ("umap", "_map.layout.far", with_last(10_000)),
    ("trimap", "_map.affinities.near.widths", shorter),
    ("parametric", "target_embedding_", shorter),
    ("parametric", "_map.origin", shorter),
    ("parametric", "_map.unit", lambda unit: 0.0),
    ("parametric", "_map.low", shorter),
    ("parametric", "_map.extent", lambda extent: -extent),
    ("parametric", "_map.encoder.vector", lambda weights: weights[:-1]),
    ("parametric", "_map.encoder.sizes", lambda sizes: (*sizes[:-1], 10**9)),
    ("parametric", "_map.data.n", lambda n: n + 1),
    ("parametric", "embedder", lambda none: Knn(3)),
    ("parametric", "embedder", lambda none: laws.X),
    ("selected", "best_estimator_.graph_.indices", with_last(2**30)),
    ("selected", "best_estimator_.graph_.indptr", with_last(2**40)),
    ("selected", "best_estimator_._map.scaling.projection", shorter),
    ("selected", "best_estimator_", lambda inner: isentropic.PCA().fit(np.eye(3))),
    ("selected", "selection_.best", lambda best: 7),
    ("selected", "selection_.trials", lambda trials: ()),
    ("selected", "selection_.trials", lambda trials: trials[0]),
    ("selected", "best_params_", lambda params: {3: 5}),
    ("selected", "best_params_", lambda params: {"n_neighbors": isentropic.PCA()}),
    ("selected", "best_estimator_._map.data.X", shorter),
    ("selected", "_map.data.n", lambda n: n + 1),
    ("selected", "_map", lambda found: found.data),
    ("selected", "embedding_", shorter),
    ("selected", "estimator", lambda none: None),
    ("selected", "estimator", lambda none: "isomap"),
    ("selected", "grid", lambda none: isentropic.PCA()),
    ("selected", "estimator.graph_", lambda none: NeighborGraph(*5 * (np.arange(3),))),
    ("selected", "estimator.feature_names_in_", lambda none: np.arange(3)),
    ("selected", "estimator", lambda none: Knn(3)),
]


@pytest.mark.parametrize(("name", "attribute", "change"), TAMPERED)
def test_a_tampered_part_is_refused_by_its_name(name, attribute, change, tmp_path):
    text = refusal(tampered(tmp_path / "model.isentropic", own(name), attribute, change))
    # two arrays that should agree: either is the wrong one
    assert "it is damaged (its " in text
    assert re.split(r"[.\s[]", text.split("(its ")[1].removeprefix("key of "))[0] in {
        attribute.split(".")[0],
        *RELATED,
    }


RELATED = ("_map", "embedding_", "best_estimator_", "components_")


@pytest.mark.parametrize("group", ["fitted", "parameters"])
@pytest.mark.parametrize(
    "name", ["_require_sound", "transform", "__class__", "_growth", "landmark_geodesics", "x_"]
)
def test_an_attribute_that_is_not_declared_is_refused(name, group, tmp_path):
    path = tmp_path / "model.isentropic"
    isentropic.save(own("landmark-isomap"), path)
    reworded(path, lambda found: found["model"][group].update({name: 3}))
    assert f"it is damaged (its {name} is no attribute of Isomap)" in refusal(path)


def test_a_field_that_is_not_declared_is_refused(tmp_path):
    path = tmp_path / "model.isentropic"
    isentropic.save(own("landmark-isomap"), path)
    reworded(path, lambda found: found["parts"][0]["fields"].update(transform=3))
    assert "it is damaged (its part 0.transform is no field of " in refusal(path)


@pytest.mark.parametrize("name", [*NAMES, "selected"])
def test_every_attribute_that_is_missing_is_named_with_the_next_step(name, tmp_path):
    model = own(name)
    optional = {key for key, kind in field_specs(type(model)).items() if kind.may_miss}
    for attribute in sorted(set(model.__getstate__()) - optional):
        lacking = copy.copy(model)
        del vars(lacking)[attribute]
        with pytest.raises(StateError, match=f"^its {attribute} is missing$"):
            require_state(lacking)
    del vars(model)["n_features_in_"]
    text = refusal(tampered(tmp_path / "model.isentropic", model, "n_jobs", lambda n_jobs: n_jobs))
    assert text.endswith(
        "(its n_features_in_ is missing). Fit the model again, and save it with this version."
    )


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
@pytest.mark.parametrize("name", ["lle", "modified-lle", "ltsa", "hessian-lle"])
def test_a_map_of_separate_parts_can_be_saved(name, X, new, tmp_path):
    X[60:] += 100
    model = isentropic.make(name, n_neighbors=8, on_disconnected="separate").fit(X)
    isentropic.save(model, tmp_path / "model.isentropic")
    again = isentropic.load(tmp_path / "model.isentropic")
    both = np.vstack([new, new + 100])
    assert_array_equal(again.transform(both), model.transform(both))


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
def test_a_part_with_fewer_rows_than_neighbors_is_refused(X, tmp_path):
    X[60:] += 100
    model = isentropic.LLE(8, on_disconnected="separate").fit(X)
    path = tampered(tmp_path / "model.isentropic", model, "_map.weights.k", lambda k: 21)
    assert "its _map.query.parts must have as many rows each as a new row has neighbors" in refusal(path)


def test_a_set_of_degrees_can_be_saved(X, new, tmp_path):
    model = isentropic.MultiSDD({1, 2}).fit(X)
    isentropic.save(model, tmp_path / "model.isentropic")
    again = isentropic.load(tmp_path / "model.isentropic")
    assert again.degrees == {1, 2}
    assert_array_equal(again.transform(new), model.transform(new))


@pytest.mark.parametrize(
    "name",
    ["t-sne", "multiscale-t-sne", "global-t-sne", "set-sne", "sgt-sne", "sne", "umap", "pacmap", "trimap"],
)
def test_a_map_whose_squares_overflow_is_refused(name, tmp_path):
    """No fit gives it: all weights would vanish, and a kernel divide by their sum."""
    path = tampered(tmp_path / "model.isentropic", own(name), "_map.layout.Z", lambda Z: 1e299 * Z)
    assert "it is damaged (its _map.layout.Z must be at " in refusal(path)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["nonmetric-mds", "metric-mds"])
def test_a_unit_by_which_distances_overflow_is_an_error_with_the_next_step(name, tmp_path):
    path = tampered(tmp_path / "model.isentropic", own(name), "_map.unit", lambda _: 1e-320)
    model = isentropic.load(path)
    new = np.random.default_rng(5).normal(size=(3, model.n_features_in_))
    with pytest.raises(isentropic.InvalidInputError, match=r"of row 0 must be finite.*is damaged"):
        model.transform(new)


@pytest.mark.parametrize("shape", [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 1.0, 1e-300]])
def test_weights_that_would_be_divided_by_nothing_are_refused(shape, tmp_path):
    path = tampered(tmp_path / "model.isentropic", own("dd-hds"), "_map.shape", lambda _: np.array(shape))
    assert "its _map.shape must be at least 1e-100 but for its first number" in refusal(path)


def test_lists_longer_than_the_table_are_refused_before_a_kernel_follows_them(tmp_path):
    model = own("manifold-sculpting")
    rows = len(model.embedding_)
    path = tampered(
        tmp_path / "model.isentropic", model, "_map.near", lambda near: np.zeros((rows, rows + 1), np.int64)
    )
    with pytest.raises(isentropic.InvalidInputError, match=f"neighbours must be at most {rows}, got"):
        isentropic.load(path).transform(np.random.default_rng(5).normal(size=(3, model.n_features_in_)))


@pytest.mark.parametrize(
    ("name", "attribute", "value"), [("rankvisu", "_map.k", 2**31), ("rankvisu", "_map.k", 240)], ids=str
)
def test_a_number_of_neighbours_beyond_the_rows_is_refused(name, attribute, value, tmp_path):
    path = tampered(tmp_path / "model.isentropic", own(name), attribute, lambda _: value)
    assert f"its {attribute} must be below" in refusal(path)


def test_a_walk_without_end_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = isentropic.MetricMDS(metric=isentropic.Diffusion(4, t=2)).fit(X)
    path = tampered(tmp_path / "model.isentropic", model, "_map.query.data.metric.t", lambda t: 2**31)
    assert "it is damaged (its metric must be" in refusal(path)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("b_", 1e3), ("b", 1e3), ("spread", 1e300), ("spread", 1e-300), ("a", 1e9)],
)
def test_a_curve_that_no_fit_gives_is_refused(attribute, value, tmp_path):
    attribute = attribute if attribute == "b_" else f"_map.layout.{attribute}"
    path = tampered(tmp_path / "model.isentropic", own("umap"), attribute, lambda _: value)
    assert f"it is damaged (its {attribute} must be" in refusal(path)
