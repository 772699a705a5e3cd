"""``assess`` and its result: names, table, JSON, what contributes, and bad input."""

import json

import numpy as np
import pytest

from assertions import assert_same_bits
from isentropic import config_context
from isentropic._core.errors import FileFormatError, InvalidInputError, MemoryBudgetError, message
from isentropic.quality import (
    Measure,
    Quality,
    assess,
    assessment,
    coranking_matrix,
    distance_rows,
    rnx_auc,
    trustworthiness,
)
from isentropic.quality.measures import MEASURES


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(50, 4))
    return X, X[:, :2].copy()


# ---- the result --------------------------------------------------------------------------------


def test_points_of_the_curves_are_among_the_measures(pair):
    found = assess(*pair, n_neighbors=(20, 5), measures="ranks")
    assert found.n_neighbors == (5, 20)
    for k in (5, 20):
        for name, measure in found.at(k).items():
            if MEASURES[name].is_reported:
                assert found.measures[f"{name}({k})"] == measure
    assert {"rnx_auc", "q_local", "q_global"} < set(found.measures)


def test_default_neighbourhoods_fit_the_rows(rng):
    def chosen(n):
        X = rng.normal(size=(n, 2))
        return assess(X, X, measures="ranks").n_neighbors

    expected = {3: (1,), 4: (1,), 20: (6,), 30: (9,), 31: (10,), 61: (10, 30), 250: (10, 30, 100)}
    assert {n: chosen(n) for n in expected} == expected


def test_the_table_has_every_measure(pair):
    found = assess(*pair, sample=20, measures="ranks")
    table = found.summary()
    assert list(table.index) == list(found.measures)
    assert list(table.columns) == ["value", "low", "high", "least", "greatest", "best", "better", "note"]
    line = table.loc["trustworthiness(10)"]
    assert line["low"] < line["value"] < line["high"]
    assert (line["least"], line["greatest"], line["best"], line["better"]) == (0.0, 1.0, 1.0, "higher")
    assert table.loc["b_nx(10)", "better"] == "nearer"
    assert assess(*pair, measures="ranks").summary()["low"].isna().all()


@pytest.mark.parametrize("sample", [None, 20])
def test_json_keeps_everything(pair, sample):
    found = assess(*pair, n_neighbors=(3, 7), sample=sample, measures="ranks")
    back = Quality.from_json(found.to_json())
    assert back.to_json() == found.to_json()
    for name, curve in found.curves.as_dict().items():
        assert_same_bits(getattr(back.curves, name), curve)
    for name in ("rows", "false_neighbors", "tears", "near_neighbors", "grid"):
        assert_same_bits(getattr(back, name), getattr(found, name))
    assert back.measures == found.measures
    assert back.ties == found.ties
    assert back.method == found.method
    assert back.at(5) == found.at(5)


def test_json_is_plain_json(pair):
    data = json.loads(
        assess(*pair, measures="ranks").to_json(), parse_constant=pytest.fail
    )  # no NaN, no Infinity
    assert data["measures"]["mrre_false(10)"]["range"] == [None, 1.0]
    assert data["exact"] is True


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "isentropic.quality/99"}'])
def test_other_json_is_refused(text):
    with pytest.raises(FileFormatError, match="must be JSON of format"):
        Quality.from_json(text)


def test_the_result_is_frozen(pair):
    with pytest.raises(AttributeError):
        assess(*pair, measures="ranks").n = 3


@pytest.mark.parametrize("k", [0, 50, -1, 2.5, "3"])
def test_at_refuses_what_is_no_k(pair, k):
    with pytest.raises(InvalidInputError, match="k must be an integer from 1 to 49"):
        assess(*pair, measures="ranks").at(k)


def test_a_measure_is_a_number():
    assert float(Measure(0.25)) == 0.25
    assert Measure(0.25, 0.2, 0.3).exact is False


# ---- what contributes --------------------------------------------------------------------------


def test_contributions_are_asked_with_both_sides_and_the_drawn_rows(pair, monkeypatch):
    asked = []

    def contribute(X, Z, sampled_rows, *, y, n_neighbors, orders, random_state, n_jobs):
        assert (orders is None) == (sampled_rows is not None)
        asked.append((X.n, Z.n, sampled_rows, y, n_neighbors, random_state, n_jobs))
        return {"new": Measure(0.5)}

    def refuse(X, Z, sampled_rows, **options):
        raise InvalidInputError(message("y", "given", None))

    monkeypatch.setattr(assessment, "contributions", lambda: [contribute, refuse])
    y = ["a"] * 50
    whole = assess(*pair, y=y, n_neighbors=(7, 9), n_jobs=1)
    part = assess(*pair, sample=10)
    assert asked[0][:5] == (50, 50, None, y, 7)
    assert asked[0][6] == 1
    assert_same_bits(asked[1][2], part.rows)
    assert whole.measures["new"] == Measure(0.5)
    assert whole.notes == ("y must be given, got None.",)
    assert "new" not in assess(*pair, measures="ranks").measures


# ---- bad input ---------------------------------------------------------------------------------


def refused(match, *args, call=assess, **options):
    with pytest.raises(InvalidInputError, match=match):
        call(*args, **options)


def test_rows_must_match(pair):
    X, Z = pair
    refused("Z must be a table with as many rows as X, 50, got 49", X, Z[:-1])
    refused("X must be a table of at least 3 rows, got 2", X[:2], Z[:2])
    refused("X must be a table of at least 3 rows, got 1", X[:1], Z[:1])
    refused("X must be a table of at least 3 rows, got 0", X[:0], Z[:0])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_must_be_finite(pair, wrong):
    X, Z = pair[0].copy(), pair[1].copy()
    Z[3, 1] = wrong
    refused("Z must be finite everywhere, got '1 entries", X, Z)
    refused("X must be finite everywhere", Z, X)


def test_tables_must_be_tables(pair):
    from scipy.sparse import csr_array

    X, Z = pair
    refused("Z must be a table with rows and columns", X, Z[:, 0])
    refused("X must be an array of real numbers", [["a", "b"]] * 50, Z)
    refused("X must be a dense array", csr_array(X), Z)
    refused("X must be a table of at least one column", X[:, :0], Z)
    refused("metric must be one of", X, Z, metric="euclidian")
    refused("metric must be one of", X, Z, metric="seuclidean")  # it differs from batch to batch


def test_matrices_must_be_of_distances(pair):
    X, Z = pair
    D = distance_rows(X).rows(np.arange(50))
    skewed, negative, own = D.copy(), D.copy(), D.copy()
    skewed[3, 4] += 0.1
    negative[3, 4] = negative[4, 3] = -0.5
    own[5, 5] = 0.2
    options = {"metric": "precomputed"}
    refused(r"X must be symmetric, got 'entries that differ by 0.1'", skewed, Z, **options)
    refused("X must be a matrix of distances, at least 0, got -0.5", negative, Z, **options)
    refused("X must be a matrix of distances, 0 on the diagonal", own, Z, **options)
    refused("X must be a square matrix", D[:, :-1], Z, **options)
    refused(r"X must be condensed distances, n \(n - 1\) / 2 of them, got 1224", np.ones(1224), Z, **options)
    refused("X must be condensed distances, at least 0", -np.ones(1225), Z, **options)
    infinite = np.ones(1225)
    infinite[7] = np.inf  # geodesics between parts of a graph
    refused("X must be finite everywhere", infinite, Z, **options)


def test_distances_of_a_metric_must_be_distances(pair):
    refused("^metric 'broken' must be finite and at least 0 between all rows, got -1.0", *pair, metric=broken)


def broken(x, y):
    return -1.0


@pytest.mark.parametrize("k", [0, 50, -3, 2.0, True, "5", [5, 60], []])
def test_neighbourhoods_must_fit(pair, k):
    refused("n_neighbors must be", *pair, n_neighbors=k)
    refused("n_neighbors must be", *pair, n_neighbors=k, call=trustworthiness)


@pytest.mark.parametrize("sample", [0, 1, 51, 3.5, "all", True])
def test_samples_must_fit(pair, sample):
    refused("sample must be 'auto', None for all rows, or an integer from 2 to 50", *pair, sample=sample)


def test_measures_are_all_or_ranks(pair):
    refused("measures must be one of all, ranks", *pair, measures="rank")


def test_equal_rows_of_the_data_are_stated(pair):
    with pytest.warns(UserWarning, match="All rows of X are equal"):
        found = assess(np.ones((50, 3)), pair[1], measures="ranks")
    assert found.ties.share_X == 1.0
    D = np.zeros((50, 50))
    with pytest.warns(UserWarning, match="All rows of X are equal"):
        assess(D, pair[1], metric="precomputed", measures="ranks")


def test_memory_is_asked_for_before_it_is_spent(pair):
    with pytest.raises(MemoryBudgetError, match="Curves of 50 rows needs"):
        assess(*pair, budget=1000)
    with (
        config_context(memory_limit=10_000),
        pytest.raises(MemoryBudgetError, match="co-ranking matrix of 49 by 49"),
    ):
        coranking_matrix(*pair, bins=None)


def test_three_rows_are_enough():
    X = np.array([[0.0], [1.0], [3.0]])
    found = assess(X, X, measures="ranks")
    assert found.at(1)["trustworthiness"].value == 1.0
    assert "r_nx" not in found.at(2)
    assert rnx_auc(X, X) == 1.0


def test_classes_must_be_one_for_each_row(pair):
    with pytest.raises(InvalidInputError, match=r"^y must be one class for each of \d+ rows, got \(3,\)"):
        assess(*pair, [0, 1, 0])


def test_complex_numbers_are_refused(pair):
    X, Z = pair
    refused("X must be an array of real numbers", X + 1j, Z)


def test_numbers_of_any_size(rng):
    X = rng.normal(size=(30, 3))
    expected = trustworthiness(X, X[:, :2])
    assert trustworthiness(1e100 * X, 1e-100 * X[:, :2]) == expected
    for size in (1e200, 1e-200):  # squares overflow, or vanish
        assert trustworthiness(size * X, X[:, :2] / size) == expected
