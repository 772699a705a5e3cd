"""append_rows: exact where the method grows, else placed and refined; names, features and refusals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import isentropic
from isentropic import (
    PCA,
    SDD,
    TSNE,
    UMAP,
    InvalidInputError,
    Isomap,
    MetricMDS,
    MultiSDD,
    ParameterFreeSDD,
    Sammon,
    append_rows,
)
from isentropic.quality import aligned_distance

X = isentropic.datasets.load("builtin:digits").X[:170]
MODELS = {
    "t-sne": TSNE(10, max_iter=200),
    "umap": UMAP(14, n_epochs=80),
    "sdd": SDD([1, 3]),
    "multi-sdd": MultiSDD({1, 2}),
    "parameter-free-sdd": ParameterFreeSDD(),
    "metric-mds": MetricMDS(),
    "sammon": Sammon(),
}
NAMES = np.array([f"r{i}" for i in range(170)])


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(X[:150]) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_placed_and_then_all_go_on(name, fitted):
    model, before = clone(MODELS[name]).fit(X[:150]), fitted[name]
    parameters = model.get_params()
    found = append_rows(model, X[150:], refine=10)
    assert (found.kind, found.n_new) == ("refined", 20)
    assert 0 < found.steps <= 10
    assert found.steps == model.n_iter_
    assert model.get_params() == parameters  # a later fit is as it was
    assert_allclose(found.moved.distances, aligned_distance(before, model.embedding_[:150]).distances)
    assert 0 < found.moved.median < 0.03
    assert_array_equal(model.transform(X), model.embedding_)  # all rows are fitted ones now
    placed = before.transform(X[150:])
    turned = aligned_distance(before.embedding_, model.embedding_[:150])
    assert np.median(np.linalg.norm(model.embedding_[150:] - placed, axis=1)) < 0.1 * turned.width


@pytest.mark.parametrize("name", MODELS)
def test_without_steps_places_are_those_of_transform(name, fitted):
    model, before = clone(MODELS[name]).fit(X[:150]), fitted[name]
    found = append_rows(model, X[150:], refine=0)
    assert (found.kind, found.steps) == ("placed", 0)
    assert found.moved.worst < 1e-6
    expected = np.concatenate([before.embedding_, before.transform(X[150:])])
    assert aligned_distance(expected, model.embedding_).worst < 1e-6


def test_the_degrees_stay():
    for model in (SDD([1, 3]), MultiSDD("auto", max_iter=10)):
        model.fit(X[:100])
        degrees = model._map.degrees.copy()
        append_rows(model, X[100:110], refine=3)
        assert_array_equal(model._map.degrees, degrees)
        assert len(model.scores_) == 1  # no other was tried


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 40}], ids=["all", "landmarks"])
def test_isomap_is_that_of_a_fit_on_all_rows(options):
    model = Isomap(12, **options).fit(X[:150])
    before = model.embedding_.copy()
    found = append_rows(model, X[150:])
    assert (found.kind, found.steps) == ("exact", 0)
    assert aligned_distance(Isomap(12, **options).fit(X), model).worst < 1e-6
    plain = np.linalg.norm(model.embedding_[:150] - before, axis=1)
    assert_allclose(found.moved.distances, aligned_distance(before, model.embedding_[:150]).distances)
    assert np.sqrt((found.moved.distances**2).mean()) <= np.sqrt((plain**2).mean()) + 1e-9


def test_isomap_is_turned_onto_the_old_map():
    angles = np.random.default_rng(0).permutation(np.arange(64)) * (np.pi / 32)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])  # two eigenvalues are equal: any axes will do
    model = Isomap(4).fit(circle[:60])
    before = model.embedding_.copy()
    found = append_rows(model, circle[60:])
    width = np.ptp(before, axis=0).max()
    assert np.linalg.norm(model.embedding_[:60] - before, axis=1).max() < 0.1 * width
    assert found.moved.worst < 0.1


def test_names_and_features_grow_too(tmp_path):
    table = pd.DataFrame(X, index=NAMES, columns=[f"p{i}" for i in range(64)])
    model = SDD(2).fit(table[:150])
    append_rows(model, table[150:], refine=2)
    assert_array_equal(model.training_row_names, NAMES)
    assert_array_equal(model.feature_names_in_, table.columns)
    isentropic.save(model, tmp_path / "model.isentropic")
    assert_array_equal(isentropic.load(tmp_path / "model.isentropic").embedding_, model.embedding_)
    with pytest.raises(
        InvalidInputError, match="rows with new names, got \"3 that the map has, such as 'r2'\""
    ):
        append_rows(model, table[2:5])
    with pytest.raises(ValueError, match="feature names"):
        append_rows(model, table[:3].rename(columns={"p0": "q0"}, index=lambda name: f"new {name}"))
    assert len(model.embedding_) == 170  # what is refused changes nothing
    with pytest.raises(InvalidInputError, match="X must be a table with row names"):
        append_rows(model, table[:1].reset_index(drop=True))


def test_a_model_that_was_loaded_grows_alike(tmp_path, fitted):
    isentropic.save(fitted["sdd"], tmp_path / "model.isentropic")
    loaded, model = isentropic.load(tmp_path / "model.isentropic"), clone(MODELS["sdd"]).fit(X[:150])
    for one in (loaded, model):
        append_rows(one, X[150:], refine=5)
    assert_array_equal(loaded.embedding_, model.embedding_)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (PCA().fit(X), "PCA cannot take more rows"),
        (SDD(), "model must be a fitted estimator, got 'SDD'"),
        ("sdd", "model must be a fitted estimator"),
        (
            MetricMDS(metric="precomputed").fit(np.abs(X[:5, :1] - X[:5, :1].T)),
            "MetricMDS cannot take more rows",
        ),
    ],
    ids=["pca", "unfitted", "text", "distances"],
)
def test_what_cannot_grow_is_refused(model, said):
    with pytest.raises(InvalidInputError) as refused:
        append_rows(model, X[:3])
    assert said in str(refused.value)


def test_bad_values_are_refused(fitted):
    with pytest.raises(InvalidInputError, match="refine must be a number of steps"):
        append_rows(fitted["sdd"], X[150:], refine=-1)
    other = clone(MODELS["sdd"]).fit(X[:50]).set_params(n_components=3)
    with pytest.raises(InvalidInputError, match="n_components must be that of the map"):
        append_rows(other, X[50:60])
    assert len(other.embedding_) == 50
