"""What was fitted stays fitted: whatever is done to the data, the parameters or the process afterwards."""

import json
import pickle
import warnings
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import isentropic
from isentropic import FileFormatError, Isomap, Knn, Landmarks, LandmarksClippedWarning, LowRecallWarning
from isentropic.registry import METHODS

NAMES = sorted(METHODS)


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 4))


@pytest.fixture
def new(rng):
    return rng.normal(size=(6, 4))


@pytest.mark.parametrize("name", NAMES)
def test_writing_into_the_data_moves_nothing(name, X, new):
    fitted = isentropic.make(name).fit(X)
    before, placed = fitted.transform(X), fitted.transform(new)
    given = X.copy()
    X *= 5
    assert_array_equal(fitted.transform(new), placed)
    assert_array_equal(fitted.transform(given), before)


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
    fitted = isentropic.make(name).fit(X)
    placed = fitted.transform(new)
    fitted.set_params(**changes)
    assert_array_equal(fitted.transform(new), placed)


@pytest.mark.parametrize("name", NAMES)
def test_tiny_rows_are_placed_as_in_any_batch(name, X):
    fitted = isentropic.make(name).fit(X)
    tiny = np.full((1, 4), 1e-150)
    # Where a library multiplies, the last bit may depend on the number of rows.
    tolerance = 1e-12 * np.ptp(fitted.embedding_)
    together = fitted.transform(np.vstack([tiny, X]))[:1]
    assert_allclose(together, fitted.transform(tiny), rtol=0, atol=tolerance)


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


def test_a_search_that_misses_neighbours_says_so(rng):
    with pytest.warns(LowRecallWarning, match=r"found \d+% of the true neighbours of 200 rows"):
        graph = isentropic.neighbor_graph(rng.normal(size=(6000, 60)), Knn(5, approximate=True))
    assert graph.recall < 0.9


def test_a_pickle_leaves_the_index_behind(X, new):
    fitted = Isomap().fit(X)
    placed = fitted.transform(new)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.__dict__.get("_index_of_fitted") is None
    assert_array_equal(again.transform(new), placed)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("isomap", "projection"),
        ("isomap", "hashes"),
        ("classical-mds", "means"),
        ("pca", "mean_"),
        ("entropic-isomap", "patch_sizes_"),
        ("parameter-free-sdd", "hashes"),
        ("parametric", "_centre"),
    ],
)
def test_a_model_file_whose_arrays_do_not_fit_each_other(name, attribute, X, tmp_path):
    model = isentropic.make(name).fit(X)
    holder = next(
        value for value in (model, getattr(model, "_scaling", None), getattr(model, "_known", None))
        if hasattr(value, attribute)
    )  # fmt: skip
    object.__setattr__(holder, attribute, getattr(holder, attribute)[:-3].copy())
    isentropic.save(model, tmp_path / "model.skops")
    with ZipFile(tmp_path / "model.skops") as archive:
        assert json.loads(archive.read("isentropic.json"))["format"] == 1
    with pytest.raises(FileFormatError, match=r"it is damaged \(its .* have the shape"):
        isentropic.load(tmp_path / "model.skops")


def _one_out_of_bounds(model, name):
    if name == "entropic-isomap":
        model.neighbors_.indices[3, 1] = 10_000
    elif name == "kde-isomap":
        model._lists[1][5] = -4
    else:
        model._references[0] = 10_000


@pytest.mark.parametrize("name", ["entropic-isomap", "kde-isomap", "parameter-free-sdd"])
def test_a_model_file_that_points_outside_the_rows(name, X, tmp_path):
    model = isentropic.make(name).fit(X)
    _one_out_of_bounds(model, name)
    isentropic.save(model, tmp_path / "model.skops")
    with pytest.raises(FileFormatError, match="point outside the rows"):
        isentropic.load(tmp_path / "model.skops")


def test_mean_weights_of_other_degrees_in_a_model_file(X, tmp_path):
    model = isentropic.MultiSDD((1, 2)).fit(X)
    model._means = tuple(means[:1].copy() for means in model._means)
    isentropic.save(model, tmp_path / "model.skops")
    with pytest.raises(FileFormatError, match="its mean weights have the shape"):
        isentropic.load(tmp_path / "model.skops")


def test_a_set_of_degrees_can_be_saved(X, new, tmp_path):
    model = isentropic.MultiSDD({1, 2}).fit(X)
    isentropic.save(model, tmp_path / "model.skops")
    again = isentropic.load(tmp_path / "model.skops")
    assert again.degrees == {1, 2}
    assert_array_equal(again.transform(new), model.transform(new))
