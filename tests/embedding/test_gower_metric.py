"""Methods of a mixed table with holes by Gower's metric: oracle, placed rows, files, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic import (
    TSNE,
    ClassicalMDS,
    Geodesic,
    Gower,
    InvalidInputError,
    Isomap,
    Knn,
    MetricMDS,
    ParameterFreeSDD,
    Selected,
    SupervisedTSNE,
    append_rows,
    load,
    nearest_neighbors,
    save,
)
from isentropic._core.models.saving import FileFormatError
from isentropic.quality import rnx_auc
from laws import assert_rows_by_themselves
from naive_gower import naive_gower

MIXED = Gower(levels=(3, 4), ordered=(5,))


def mixed(seed, n):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, size=(n, 2)), rng.integers(0, 5, n)])
    X[:, 0] += 3 * X[:, 3]
    X[rng.random(X.shape) < 0.08] = np.nan
    return X


X, NEW = mixed(0, 120), mixed(1, 5) * [2, 1, 1, 1, 3, 1]  # beyond the ranges, and levels of no fitted row
D = naive_gower(X, levels=MIXED.levels, ordered=MIXED.ordered)
TO_ALL = naive_gower(X, NEW, levels=MIXED.levels, ordered=MIXED.ordered)
METHODS = {
    "classical": ClassicalMDS(metric=MIXED),
    "landmarks": ClassicalMDS(metric=MIXED, n_landmarks=30),
    "isomap": Isomap(metric=MIXED),
    "metric": MetricMDS(metric=MIXED, max_iter=20),
    "sdd": ParameterFreeSDD(metric=MIXED, max_iter=10),
    "t-sne": TSNE(10, metric=MIXED, max_iter=40),
    "geodesic": MetricMDS(metric=Geodesic(8, MIXED), max_iter=20),
    "selected": Selected(Isomap(metric=MIXED), {"n_neighbors": [6, 12]}),
}


@pytest.mark.parametrize("kind", ["classical", "isomap"])
def test_the_map_is_that_of_the_distances(kind):
    method = METHODS[kind]
    fitted = method.fit(X)
    given = type(method)(metric="precomputed").fit(D)
    assert_allclose(fitted.embedding_, given.embedding_, atol=1e-9)
    assert_allclose(fitted.transform(NEW), given.transform(TO_ALL), atol=1e-9)


@pytest.mark.parametrize("kind", METHODS)
def test_rows_are_placed_by_themselves_and_from_a_file(kind, tmp_path):
    method = METHODS[kind].fit(X)
    assert_same_bits(method.transform(X), method.embedding_)
    assert_rows_by_themselves(method.transform, NEW)
    save(method, tmp_path / "model.isentropic")
    again = load(tmp_path / "model.isentropic")
    assert_same_bits(again.transform(NEW), method.transform(NEW))


def test_quality_of_a_mixed_table_is_that_of_its_distances():
    Z = METHODS["classical"].fit(X).embedding_
    assert rnx_auc(X, Z, metric=MIXED) == pytest.approx(rnx_auc(D, Z, metric="precomputed"))


def test_a_row_with_other_holes_is_another_row():
    """At distance 0 from two fitted rows that are apart, it takes the place of neither."""
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.2, 0.9]])
    fitted = ClassicalMDS(metric="gower").fit(rows)
    place = fitted.transform(np.array([[0.0, np.nan]]))
    assert not any(np.allclose(place, Z) for Z in fitted.embedding_)


def test_a_hole_is_refused_by_any_other_metric():
    for method in (Isomap(), Isomap(metric="manhattan")):
        with pytest.raises(ValueError, match="contains NaN"):
            method.fit(X)
    fitted = Isomap(metric="gower").fit(X)
    assert fitted.set_params(metric="euclidean").transform(X[:1]).shape == (1, 2)  # as it was fitted


def test_a_refit_by_another_metric_forgets_the_units(tmp_path):
    method = Isomap(metric="gower").fit(X)
    method.set_params(metric="euclidean").fit(np.nan_to_num(X))
    save(method, tmp_path / "model.isentropic")
    assert_same_bits(load(tmp_path / "model.isentropic").embedding_, method.embedding_)


def test_a_damaged_model_with_holes_is_refused(tmp_path):
    method = Isomap().fit(np.nan_to_num(X))
    method._map.data.X[3, 1] = np.nan
    with pytest.raises((InvalidInputError, FileFormatError), match="finite"):
        save(method, tmp_path / "model.isentropic")


def test_more_rows_change_the_ranges_and_are_refused():
    isomap, sdd = Isomap(metric=MIXED).fit(X), METHODS["sdd"].fit(X)
    assert not hasattr(isomap, "partial_fit")
    with pytest.raises(
        InvalidInputError, match="metric of the fitted rows must be one that more rows do not"
    ):
        append_rows(sdd, NEW)


def test_gaussians_need_numbers():
    labels = (np.arange(len(X)) % 3).astype(float)
    labels[:5] = np.nan
    with pytest.raises(InvalidInputError, match="unlabelled must be votes or neutral"):
        SupervisedTSNE(metric=MIXED, unlabelled="posterior").fit(X, labels)


@pytest.mark.filterwarnings("ignore:Some rows have no column in common")
@pytest.mark.parametrize("holes", [True, False])
def test_approximate_neighbours_are_the_nearest(holes):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 3, size=(900, 2)), rng.integers(0, 6, size=(900, 3))]).astype(
        float
    )
    rows[:, 2:] += rng.integers(0, 2, size=(900, 1)) * 0.5  # few values: many rows are equal, and tie
    if holes:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    metric = Gower(levels=(0, 1), weights=(1.0, 2.0, 1.0, 1.0, 0.5))
    found = nearest_neighbors(rows, Knn(10, approximate=True), metric=metric)
    true = nearest_neighbors(rows, Knn(10, approximate=False), metric=metric)
    assert found.metric == "gower"
    assert not found.exact
    assert found.recall > 0.95
    share = (found.distances <= true.distances[:, -1:]).mean()
    assert share > 0.95
    again = nearest_neighbors(rows, Knn(10, approximate=True), metric=metric, n_jobs=1)
    assert_same_bits(again.indices, found.indices)
    some = np.arange(0, 900, 97)
    expected = naive_gower(rows, rows[some], levels=(0, 1), weights=metric.weights)
    near = np.take_along_axis(expected, found.indices[some], axis=1)
    assert_allclose(found.distances[some], near, atol=1e-12)
