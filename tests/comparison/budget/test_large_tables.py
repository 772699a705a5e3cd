"""A large table: compared on a stated sample, the recommended map then fitted on all rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isentropic import Run, compare, datasets, quality, registry
from isentropic._core.errors import InvalidInputError, MemoryBudgetError
from isentropic.comparison import collect_page_data, presets, verdict
from isentropic.comparison.budget.comparison_plan import select_rows, strata_of, stratified_rows
from isentropic.comparison.evaluation.fitting import fit_and_map
from isentropic.comparison.method_comparison import run_comparison

FITTED = []  # rows of each fit of the stub


class Columns(BaseEstimator):
    """The first two columns; counts the rows that it is fitted on."""

    def __init__(self, refuses_above=10**9, n_neighbors=10):
        self.refuses_above = refuses_above
        self.n_neighbors = n_neighbors

    def fit_transform(self, X, y=None):
        FITTED.append(len(X))
        if len(X) > self.refuses_above:
            raise MemoryBudgetError("Too many rows.")
        return self.transform(X)

    def transform(self, X):
        return np.array(X[:, :2])


@pytest.fixture
def large(monkeypatch):
    """Tables of more than 120 rows are large, and compared on 60."""
    FITTED.clear()
    for name, value in {"LARGE": 120, "SAMPLE_ROWS": 60}.items():
        monkeypatch.setattr(f"isentropic.comparison.budget.comparison_plan.{name}", value)
    monkeypatch.setattr(presets, "TUNED_ROWS", 40)
    monkeypatch.setattr(presets, "SCORED_ROWS", 50)


@pytest.fixture
def X(rng):
    t = rng.uniform(0, 3, size=(200, 2))
    return np.column_stack([t, 0.05 * rng.normal(size=(200, 3)), np.sin(t[:, 0])])


def test_the_sample_is_compared_and_the_recommended_map_fitted_on_all(large, X):
    *runs, whole = compare(X, methods=["pca", "isomap"], budget=3)
    rows = runs[0].rows
    assert [run.method for run in runs] == ["pca", "isomap"]
    assert [len(run.embedding) for run in runs] == [60, 60]
    alone = compare(X[rows], methods=["pca"], most_rows=None)[0]
    np.testing.assert_array_equal(runs[0].embedding, alone.embedding)  # a Run of the sampled table
    assert runs[0].quality.to_json() == alone.quality.to_json()
    assert whole.rows is None
    assert whole.embedding.shape == (200, 2)
    judged = verdict([*runs, whole])
    chosen = runs[judged.recommended]
    assert (whole.method, whole.params) == (chosen.method, chosen.params)
    again = registry.make(whole.method, **whole.params).fit_transform(X)
    np.testing.assert_array_equal(whole.embedding, again)
    found = quality.assess(X, whole.embedding, sample=50, random_state=0)
    assert whole.quality.to_json() == found.to_json()


def test_tables_that_are_not_large_are_compared_whole(large, X):
    (run,) = compare(X[:120], methods=["pca"])
    assert run.rows is None
    assert len(run.embedding) == 120
    (run,) = compare(X, methods=["pca"], most_rows=None)
    assert len(run.embedding) == 200
    *runs, whole = compare(X, methods=["pca"], most_rows=100)
    assert len(runs[0].rows) == 100
    assert len(whole.embedding) == 200


def test_the_verdict_says_which_rows(large, X):
    judged = verdict(compare(X, methods=["pca", "classical-mds"], tune=False))
    messages = "Compared on 60 of 200 rows; the recommended map was then fitted on all rows."
    assert judged.sampled == messages
    assert messages in judged.lines
    assert judged.recommended in (0, 1)
    assert len(judged.ratings) == 2  # the map of all rows is not compared with those of the sample
    assert not any("gave no map" in line for line in judged.lines)
    assert verdict(compare(X[:100], methods=["pca"], tune=False)).sampled == ""


def test_the_headline_is_about_all_rows(large, X):
    *runs, whole = compare(X, methods=["pca"], tune=False)
    judged = verdict([*runs, whole])
    assert judged.ratings[0].neighbors.score == whole.quality.measures["near_neighbors(10)"].value
    assert judged.ratings[0].neighbors.sentence in judged.lines[1]
    assert verdict(runs).ratings[0].neighbors.score == runs[0].quality.measures["near_neighbors(10)"].value


def test_rows_beyond_what_a_method_is_made_for_are_placed(large, X, monkeypatch):
    line = registry.Method("few", f"{__name__}:Columns", "", "none", "O(n); O(n)", "(2000)", max_rows=80)
    monkeypatch.setattr(registry, "METHODS", {**registry.METHODS, "few": line})
    *runs, whole = compare(X, methods=["few"], tune=False)
    assert not runs[0].failed
    assert whole.n_placed == 140
    np.testing.assert_array_equal(whole.embedding, X[:, :2])
    assert max(FITTED) == 60
    messages = verdict([*runs, whole]).sampled
    assert messages.endswith("fitted on them, and the other 140 rows were mapped into it, each by itself.")


def test_rows_that_do_not_fit_the_memory_are_placed(large, X):
    *_, whole = compare(X, methods={"mine": Columns(refuses_above=100)}, tune=False)
    assert FITTED[-2:] == [200, 60]
    assert whole.n_placed == 140


def test_placed_rows_are_those_of_transform(X):
    from isentropic import Isomap

    rows = np.arange(0, 200, 3)
    Z = fit_and_map(Isomap(n_neighbors=6), X, None, rows)
    model = Isomap(n_neighbors=6).fit(X[rows])
    np.testing.assert_array_equal(Z[rows], model.embedding_)
    np.testing.assert_array_equal(Z[[1]], model.transform(X[[1]]))


def test_nothing_is_fitted_on_all_rows_where_nothing_is_to_be_trusted(large, rng):
    noise = rng.normal(size=(200, 12))
    runs = compare(noise, methods=["pca"], tune=False)
    assert len(runs) == 1
    assert verdict(runs).sampled == (
        "Compared on a sample of 60 rows; no map was fitted on all rows, as none is recommended."
    )


def test_methods_of_a_preset_that_are_made_for_fewer_rows_are_one_line(large, X, monkeypatch):
    lines = {name: registry.METHODS[name] for name in ("pca", "umap")}
    few = registry.Method(
        "few", f"{__name__}:Columns", "", "none", "O(n); O(n)", "(2000)", max_rows=50, preset="quick"
    )
    monkeypatch.setattr(registry, "METHODS", {**lines, "few": few})
    monkeypatch.setattr("isentropic.comparison.budget.comparison_plan.METHODS", registry.METHODS)
    found = run_comparison(X, None, None, presets.PRESETS["quick"])
    assert [run.method for run in found.runs] == ["pca", "umap"]
    assert found.notes == ("Not compared, as they are made for fewer rows: few.",)


def test_both_stages_are_read_back(large, X, tmp_path):
    told = []
    call = {"methods": ["pca", "isomap"], "folder": tmp_path, "budget": 2}
    first = compare(X, **call, on_run=lambda run, back: told.append(back))
    second = compare(X, **call, on_run=lambda run, back: told.append(back))
    assert told == [False] * 3 + [True] * 3
    assert [a.to_json() for a in first] == [b.to_json() for b in second]
    assert Run.from_json(first[0].to_json()).to_json() == first[0].to_json()


def test_parameters_are_chosen_on_some_rows_of_the_sample(large, X):
    compare(X, methods={"mine": Columns()}, budget=3)
    assert FITTED[1:4] == [40, 40, 40]  # after the first rows
    assert FITTED[4] == 60


@pytest.mark.parametrize("most_rows", [3, 2.5, "all", True])
def test_numbers_of_rows_that_cannot_be(X, most_rows):
    with pytest.raises(InvalidInputError, match="most_rows"):
        compare(X, methods=["pca"], most_rows=most_rows)


# ---- which rows --------------------------------------------------------------------------------


def test_strata_are_drawn_in_proportion_and_fewer_are_among_more(rng):
    classes = np.repeat([0, 1, 2, -1], [500, 300, 1, 199])
    strata = strata_of(rng.normal(size=(1000, 2)), classes)
    many, few = (stratified_rows(strata, most, 3) for most in (500, 100))
    assert set(few) <= set(many)
    np.testing.assert_allclose(np.bincount(strata[many]), [100, 250, 150, 1], atol=1)
    assert (np.diff(many) > 0).all()
    assert not np.array_equal(many, stratified_rows(strata, 500, 4))


def test_without_classes_tenths_are_drawn_evenly(rng):
    X = rng.normal(size=(1000, 2)) * [1, 5]
    rows = stratified_rows(strata_of(X, None), 100, 0)
    counts, _ = np.histogram(X[rows, 1], np.quantile(X[:, 1], np.linspace(0, 1, 11)))
    np.testing.assert_allclose(counts, 10, atol=1)


# ---- what is drawn -----------------------------------------------------------------------------


def test_the_map_of_all_rows_is_drawn_with_all_of_them(large):
    wine = datasets.load("builtin:wine")
    found = run_comparison(wine.X, wine.y, ["pca"], presets.PRESETS["quick"], most_rows=60)
    table, judged = select_rows(wine, found.rows), verdict(found.all_runs)
    drawn = collect_page_data(table, found.runs, judged, full_run=found.full_run, full_table=wine)
    np.testing.assert_array_equal(drawn.full_map.rows, found.rows)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([drawn.full_map.rows, drawn.full_map.others])), np.arange(178)
    )
    np.testing.assert_array_equal(drawn.full_map.other_classes, wine.y[drawn.full_map.others])
    assert table.row_names == tuple(wine.row_names[row] for row in found.rows)
    for fact, mark in zip(judged.caveats, drawn.marks, strict=True):
        assert mark is None or set(mark.rows) <= set(found.full_run.quality.rows.tolist()), fact
