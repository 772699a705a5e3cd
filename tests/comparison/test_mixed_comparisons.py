"""compare and drawing by Gower's metric: which methods, and what they are measured by."""

import numpy as np
import pytest

from isentropic import Gower, compare, datasets
from isentropic.comparison import PRESETS, collect_page_data, page_data, verdict
from isentropic.comparison.budget import comparison_plan
from isentropic.comparison.evaluation.row_diagnostics import false_neighbor_rate
from isentropic.comparison.presets import MIXED_SCORED_ROWS, methods_of
from isentropic.quality import rnx_auc, row_tests
from naive_gower import naive_gower


@pytest.fixture(scope="module")
def table():
    import pandas as pd

    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 60)
    frame = pd.DataFrame(
        {"kind": kind, "class": np.where(kind == "a", "x", "y"), "size": rng.normal(size=60)}
    )
    frame["weight"] = frame["size"] + 3.0 * (kind == "b") + rng.normal(size=60)
    frame.loc[rng.random(60) < 0.1, "size"] = np.nan
    frame.loc[3, "kind"] = None
    return datasets.load(frame, "class", metric="gower")


@pytest.fixture(scope="module")
def runs(table):
    return compare(table.X, table.y, ["classical-mds", "pca"], metric=table.metric, preset="quick")


def test_a_map_is_fitted_and_measured_by_the_metric(table, runs):
    run = runs[0]
    assert not run.failed
    assert run.params["metric"] == "gower"
    assert run.quality.metric == "gower"
    D = naive_gower(table.X, levels=table.metric.levels, weights=table.metric.weights)
    given = rnx_auc(D, run.embedding, metric="precomputed")
    assert run.quality.measures["rnx_auc"].value == pytest.approx(given)
    assert set(run.classifiers) == {"k-NN"}
    again = compare(D, None, {"given": lambda D: run.embedding}, metric="precomputed", preset="quick")
    assert np.allclose(run.false_share, again[0].false_share)


def test_rows_are_tested_by_the_metric_and_not_walked(table, runs):
    D = naive_gower(table.X, levels=table.metric.levels, weights=table.metric.weights)
    found = row_tests(D, runs[0].embedding, metric="precomputed")
    assert np.allclose(runs[0].row_diagnostics.p, found.p)
    assert runs[0].row_diagnostics.jumps is None


def test_a_method_of_columns_says_why_it_has_no_map(runs):
    assert runs[1].failed
    assert runs[1].reason.startswith("pca must be given the Euclidean metric, since it works on columns of")
    assert runs[1].reason.endswith("Leave it out, or compare by metric='euclidean'.")


def test_presets_hold_methods_of_distances_alone():
    standard = methods_of(PRESETS["standard"], 300, has_classes=False, of_columns=False)
    wanted = {"classical-mds", "metric-mds", "isomap", "t-sne", "umap", "parameter-free-sdd"}
    assert wanted <= set(standard)
    assert not {"pca", "kde-isomap", "entropic-isomap"} & set(standard)


def test_the_page_draws_true_neighbours_by_the_metric(table, runs):
    drawn = collect_page_data(table, runs, verdict(runs))
    assert drawn.neighbors.metric == "gower"
    D = naive_gower(table.X, levels=table.metric.levels, weights=table.metric.weights)
    np.fill_diagonal(D, np.inf)
    near = np.take_along_axis(D, drawn.neighbors.indices[:, :1], axis=1)[:, 0]
    assert np.allclose(near, D.min(axis=1))
    i, j = np.triu_indices(60, 1)
    assert np.allclose(
        drawn.overlay.codes * drawn.overlay.top / 254, D[i, j], atol=drawn.overlay.error + 1e-12
    )


def test_landmarks_bound_no_distances_of_rows_with_holes(table, runs, monkeypatch):
    monkeypatch.setattr(page_data, "EXACT_ROWS", 50)
    assert collect_page_data(table, runs, verdict(runs)).overlay is None


def test_false_neighbor_rates_count_rows_that_are_farther_by_the_metric(rng):
    X = rng.uniform(size=(40, 3))
    run = compare(X, None, ["classical-mds"], metric=Gower(), preset="quick")[0]
    found = false_neighbor_rate(X / np.ptp(X, axis=0), run.embedding, run.quality, "cityblock")
    assert np.allclose(found, run.false_share)


def test_of_many_mixed_rows_some_are_compared_with_all_others(table, monkeypatch):
    monkeypatch.setattr(comparison_plan, "MIXED", 50)
    for metric, scored in ((table.metric, MIXED_SCORED_ROWS), ("euclidean", None)):
        X = np.nan_to_num(table.X)
        given = (X, None, ["isomap"], PRESETS["standard"], 0, "auto", metric, None, 1)
        assert comparison_plan.ComparisonPlan.of(*given).preset.scored_rows == scored
