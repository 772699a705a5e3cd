"""The one table of measures: everything that is measured is in it, and what is in it appears everywhere."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from assertions import assert_same_bits
from isentropic.comparison.evaluation.method_evaluation import _main_measures
from isentropic.quality import Curves, Quality, assess
from isentropic.quality.map_comparisons import jackknife_measures
from isentropic.quality.measures import (
    MEASURES,
    OF_PAIRS,
    OF_RANKS,
    Measure,
    MeasureSpec,
    kinds,
    verdict_measures,
)
from isentropic.quality.ranks.rank_curves import rnx_area
from isentropic.selection import CRITERIA


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(60, 4)) * [3, 2, 1, 0.5]
    return X, X[:, :2] + 0.2 * rng.normal(size=(60, 2))


def stem(name):
    return name.split("(")[0]


# ---- nothing is missing ------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [None, 30])
def test_assess_gives_exactly_what_the_table_lists(pair, sample):
    found = assess(*pair, np.arange(60) % 3, n_neighbors=(4, 7), sample=sample).measures
    assert {stem(name) for name in found} == {kind.name for kind in kinds() if kind.is_reported}
    assert set(found) == {name for kind in kinds() if kind.is_reported for name in kind.names((4, 7))}


def test_a_measure_is_read_as_the_table_says(pair):
    found = assess(*pair, np.arange(60) % 3, n_neighbors=4).measures
    for name, measure in found.items():
        kind = MEASURES[stem(name)]
        assert measure.better == kind.better, name
        assert kind.range[0] <= measure.range[0] <= measure.value <= measure.range[1], name
        assert measure.range[1] <= kind.range[1], name
        assert kind.at_k is not None or measure.best == kind.best, name


def test_every_line_has_words_and_a_known_source():
    for kind in kinds():
        assert kind.description.format(k=10).endswith("."), kind.name
        assert kind.source in (*OF_RANKS, *OF_PAIRS) or kind.source.count(":") == 1, kind.name
    places = [kind.column[0] for kind in kinds() if kind.column]
    assert sorted(places) == list(range(1, len(places) + 1))
    assert set(CRITERIA) == {kind.name for kind in kinds() if kind.aim}


# ---- one line more -----------------------------------------------------------------------------


@pytest.fixture
def made_up(monkeypatch):
    """A measure with its own file, one that is read off the curves: two lines more in the table."""
    module = ModuleType("made_up_measure")
    module.contribute = lambda X, Z, sampled_rows, **options: {
        "made_up": MEASURES["made_up"].measure(0.625, "by hand")
    }
    monkeypatch.setitem(sys.modules, "made_up_measure", module)
    monkeypatch.setattr(Curves, "made_area", property(lambda self: 0.375), raising=False)
    column = (1.5, "made({k})")
    source = "made_up_measure:contribute"
    monkeypatch.setitem(MEASURES, "made_up", MeasureSpec("made_up", "Of {k}.", source, column=column))
    monkeypatch.setitem(MEASURES, "made_area", MeasureSpec("made_area", "An area.", "area", in_verdict=True))


def test_a_line_more_appears_in_measures_summary_and_json(pair, made_up):
    quality = assess(*pair, n_neighbors=4)
    assert quality.measures["made_up"] == Measure(0.625, range=(0.0, 1.0), note="by hand")
    assert quality.summary().loc["made_up", ["value", "note"]].tolist() == [0.625, "by hand"]
    assert json.loads(quality.to_json())["measures"]["made_up"]["value"] == 0.625
    assert Quality.from_json(quality.to_json()).measures["made_area"].value == 0.375


def test_a_line_more_appears_on_the_page(pair, made_up):
    pytest.importorskip("jinja2")
    from isentropic._core.values import Table
    from isentropic.comparison import Run, collect_page_data, verdict
    from isentropic.report import page

    X, Z = pair
    names = tuple(f"r{i}" for i in range(60))
    table = Table(X, None, ("a", "b", "c", "d"), names, (), "made", "none")
    runs = [Run("pca", {}, None, 0.1, None, Z, assess(X, Z, n_neighbors=4))]
    judged = verdict(runs)
    text = page(table, runs, judged, collect_page_data(table, runs, judged), {})
    assert '<th scope="col" data-key="made_up" title="Of 4.">' in text
    assert "<dt>made(4)</dt><dd>Of 4.</dd>" in text
    assert '<th scope="row">made_up</th><td>0.625</td>' in text
    assert '<th scope="row">made_area</th><td>0.375</td>' in text


def test_a_line_more_is_compared_if_it_says_so(pair, made_up):
    assert jackknife_measures(*pair, n_neighbors=4)["made_area"].tolist() == [0.375] * 20
    assert _main_measures(assess(*pair, n_neighbors=4))["made_area"] == 0.375


def test_an_area_of_which_no_error_is_known_may_be_anything_where_rows_are_sampled(pair, made_up):
    found = assess(*pair, sample=30, measures="ranks").measures["made_area"]
    assert (found.low, found.value, found.high) == (0.0, 0.375, 1.0)


# ---- the area of near neighbours ---------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [None, 1, (5, 12), 59])
def test_the_local_area_is_that_under_the_curve_up_to_the_smallest_k(pair, n_neighbors):
    quality = assess(*pair, n_neighbors=n_neighbors, measures="ranks")
    k = min(quality.n_neighbors[0], 58)
    weights = 1 / np.arange(1, k + 1)
    expected = (quality.curves.r_nx[:k] * weights).sum() / weights.sum()
    assert quality.measures["rnx_local"].value == pytest.approx(expected, rel=1e-12)
    assert quality.measures["rnx_local"].exact
    assert quality.measures["rnx_auc"].value == rnx_area(quality.curves.r_nx)


def test_the_local_area_has_an_interval_where_rows_are_sampled(pair):
    whole = assess(*pair, n_neighbors=5).measures["rnx_local"]
    part = assess(*pair, n_neighbors=5, sample=30).measures["rnx_local"]
    assert part.low < whole.value < part.high
    everyone = assess(*pair, n_neighbors=59, sample=30).measures["rnx_local"]
    assert everyone.low < everyone.value < everyone.high


def test_areas_of_many_curves_are_those_of_each(rng):
    curves = rng.uniform(size=(7, 90))
    for k in (1, 10, 90, None):
        assert_same_bits(rnx_area(curves, k), np.array([rnx_area(curve, k) for curve in curves]))


@pytest.mark.parametrize("sample", [None, 30])
def test_quality_written_before_there_was_a_local_area_is_read(pair, sample):
    quality = assess(*pair, n_neighbors=5, sample=sample)
    before = json.loads(quality.to_json())
    del before["measures"]["rnx_local"]
    found = Quality.from_json(json.dumps(before))
    assert found.measures["rnx_local"] == quality.measures["rnx_local"]
    assert set(found.measures) == set(quality.measures)


def test_what_is_judged_is_judged_everywhere(pair):
    ranked = {name for kind in verdict_measures(*OF_RANKS) for name in kind.names((10,))}
    assert set(jackknife_measures(*pair, n_neighbors=10)) == {*ranked, "kendall_tau"}
    assert set(_main_measures(assess(*pair, n_neighbors=10))) == {*ranked, "kendall_tau"}


def test_a_kind_without_bounds_of_its_own_has_those_of_the_table():
    kind = replace(MEASURES["trustworthiness"], range=(0.25, 0.75), best=0.5)
    assert kind.point(10, 3, 0.625, 0.25) == Measure(0.625, 0.375, 0.75, 0.5, "higher", (0.25, 0.75))
