"""The page as text: all that belongs on it, everything escaped, the same bytes twice, small enough."""

import json
import re
import sys
from base64 import b64decode
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from made_comparisons import FACTS, make_runs, make_supervised, make_table, make_verdict, page

from isentropic import datasets
from isentropic._core.errors import InvalidInputError, MissingExtraError
from isentropic.comparison.page_data import sampled_rows
from isentropic.quality import assess
from isentropic.quality.map_comparisons import jackknife_half_width
from isentropic.report.payload.page_columns import code_columns, pack_columns
from isentropic.tables.prepare.column_scaling import Scale
from isentropic.tables.prepare.columns import Column
from isentropic.tables.prepare.preparation import Preparation

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def html(table, runs, verdict):
    return page(table, runs, verdict, FACTS)


def data_of(html):
    """What the scripts of the page read."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])


def visible(html):
    """The text between the tags, without scripts and styles."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


# ---- contents ----------------------------------------------------------------------------------


def test_the_first_screen_stands_in_its_order(html, verdict):
    text = visible(html)
    places = [
        text.index(words)
        for words in (
            verdict.use,
            verdict.caution,
            "Each point is one of 120 rows.",
            "Which rows are alike",
            "How far apart things are",
            "Are there groups",
            verdict.shows[0],
            verdict.caveats[0].text,
            verdict.choice[0],
            "3 maps of the same rows",
            "Click a heading",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words",
    [
        "failed: the <b>patch</b> is singular",
        "isentropic report made.csv --target 'a <b> c'",
        "maximum likelihood: 3.9; two nearest neighbours: not defined",
        "isentropic 0.1.0, numpy 2.3.0",
        "Do not read its axes.",
        "A column is constant.",
        "and 2 more for methods that draw at random",
        "1 of 4 runs were read back",
        "Scaling: none",
        "silhouette",
    ],
)
def test_it_says_what_was_done(html, words):
    assert words in visible(html)


def test_no_fact_is_needed(table, runs, verdict):
    text = visible(page(table, runs, verdict, {}))
    assert verdict.headline in text
    assert "None" not in text


def test_scores_have_intervals_where_they_were_estimated(table, runs, verdict):
    quality = assess(table.X, runs[0].embedding, sample=60, measures="ranks")
    estimated = [replace(runs[0], quality=quality), *runs[1:]]
    measure = quality.measures["rnx_auc"]
    assert f"{measure.low:.3f} to {measure.high:.3f}" in visible(page(table, estimated, verdict, {}))
    assert "low" in data_of(page(table, estimated, verdict, {}))["maps"][0]["curves"]["r_nx"]


def test_scores_of_other_seeds_become_an_interval(table, runs, verdict):
    own = runs[1].quality.measures["rnx_auc"].value
    repeated = [runs[0], replace(runs[1], repeats=({"rnx_auc": own + 0.1, "seed": 1},)), *runs[2:]]
    assert f"{own:.3f} to {own + 0.1:.3f}" in visible(page(table, repeated, verdict, {}))


def test_scores_of_all_rows_have_the_interval_of_rows_left_out(table, runs, verdict):
    own = runs[1].quality.measures["kendall_tau"].value
    values = tuple(own + 0.001 * np.arange(-10, 10))
    varied = [runs[0], replace(runs[1], without={"kendall_tau": values}), *runs[2:]]
    half = jackknife_half_width(values)
    html = page(table, varied, verdict, {})
    assert f"{own - half:.3f} to {own + half:.3f}" in visible(html)
    assert "what other rows of the same kind would give" in visible(html)


def test_it_says_whether_the_columns_are_related(table, runs, verdict):
    for relation, words in (
        ((0.3, 0.01, 3.0), "Rows lie 3.0 times as dense"),
        ((0.04, 0.01, 1.9), "The columns are hardly related."),
        ((0.0, 0.4, 1.0), "the columns are unrelated"),
    ):
        known = [replace(run, relation=relation) for run in runs]
        assert words in visible(page(table, known, verdict, {}))


def test_without_a_trusted_map_the_best_one_is_shown_as_such(table, runs, verdict):
    none = replace(verdict, recommended=None, use="No flat map shows which rows are alike.", caution="")
    html = page(table, runs, none, {})
    assert data_of(html)["shown"] == 0
    assert not data_of(html)["named_groups"]
    assert "not a recommendation" in visible(html)
    assert "Why no map is recommended" in visible(html)


def test_failed_runs_alone_make_a_page(runs):
    table = make_table(2)
    failed = [runs[-1]]
    verdict = replace(make_verdict(failed), recommended=None, shown=None, caveats=())
    assert "singular" in visible(page(table, failed, verdict, {}))


def test_one_column_and_no_target():
    table = replace(make_table(12, m=1), y=None, class_names=())
    Z = table.X
    run = replace(make_runs(make_table(12))[0], embedding=Z, quality=assess(table.X, Z), trials=())
    data = data_of(page(table, [run], make_verdict([run]), {}))
    assert data["maps"][0]["dimensions"] == 1
    assert data["rows"]["classes"] is None


def test_the_text_says_where_the_damage_is(table, runs):
    scattered = page(table, runs, make_verdict(runs, range(0, 120, 13)), {})
    assert "The outline 1 on the map" not in scattered
    assert data_of(scattered)["regions"][0]["ringed"]
    most = page(table, runs, make_verdict(runs, range(100)), {})
    assert data_of(most)["regions"][0]["worst"]
    assert data_of(most)["regions"][0]["n"] == 12


# ---- classes -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def supervised(table, runs):
    return make_supervised(table, runs)


def judged(runs):
    """As made, but what maps that saw the classes show is an effect of the labels."""
    made = make_verdict(runs)
    ratings = [
        replace(rating, labels="effect" if runs[rating.run].saw_classes else "") for rating in made.ratings
    ]
    return replace(made, ratings=tuple(ratings), classes=("An effect of the labels: method-2.",))


def test_maps_that_saw_the_classes_stand_apart(table, supervised):
    html = page(table, supervised, judged(supervised), {})
    text = visible(html)
    assert text.count("Maps that did not see the classes") == 2  # the maps and the table
    assert text.count("Maps that saw the classes") == 3  # and the verdict
    grids = html.split('<div class="multiples"')[1:]
    assert [re.findall(r'<figure class="map" id="map-\d" data-run="(\d)"', grid) for grid in grids] == [
        ["0", "1"],
        ["2"],
    ]
    bodies = html.split('<tbody class="sorted">')[1:]
    assert [re.findall(r'<tr data-run="(\d)"', body) for body in bodies] == [["0", "1"], ["2", "3"]]


def test_the_null_stands_beside_the_score(table, supervised):
    html = page(table, supervised, judged(supervised), {})
    text = visible(html)
    assert "held-out rows 0.375 permuted 0.350, at most 0.400" in text
    assert "rows that it saw 0.900 permuted 0.892, at most 0.950" in text
    assert text.count("an effect of the labels") >= 3  # its tag, its row, its text
    assert "An effect of the labels: method-2." in text
    assert "3 fits on 84 rows, 36 held out, in each of 2 splits; p = 0.50" in text  # one of three reaches it
    row = re.search(r'<tr data-run="2".*?</tr>', html, re.S)[0]
    assert visible(row).startswith(" C method-2 an effect of the labels ")
    assert "0.350 at most 0.400" in visible(row)


def test_scores_of_labels_that_a_map_saw_are_never_the_best(table, supervised):
    row = re.search(r'<tr data-run="2".*?</tr>', page(table, supervised, judged(supervised), {}), re.S)[0]
    assert len(re.findall(r'class="seen"', row)) == 2  # k-NN in the map and the silhouette
    alone = [replace(supervised[0], saw_classes=True)]
    assert 'class="seen"' in page(table, alone, judged(alone), {})


def test_classifiers_of_the_table_itself_stand_below(table, supervised):
    html = page(table, supervised, judged(supervised), {})
    rows = [visible(row) for row in re.findall(r'<tr class="plain">.*?</tr>', html, re.S)]
    assert [row.split() for row in rows] == [
        ["k-NN", "0.500", "0.400", "to", "0.600"],
        ["QDA", "0.550", "0.450", "to", "0.650"],
        ["LDA", "0.525", "0.425", "to", "0.625"],
    ]


def test_without_supervised_maps_nothing_is_said_of_them(html):
    assert "saw the classes" not in visible(html)
    assert "permuted" not in visible(html)


# ---- data --------------------------------------------------------------------------------------


def test_curves_have_few_values_of_k(html, runs):
    curves = data_of(html)["maps"][0]["curves"]
    assert len(curves["k"]) <= 200
    assert curves["k"][-1] == 118
    quality = runs[0].quality
    at = [quality.curves.trustworthiness[k - 1] for k in curves["k"]]
    np.testing.assert_allclose(curves["trustworthiness"]["values"], at, rtol=1e-4)


def test_a_float_target_and_any_column_can_colour(table, runs, verdict):
    numbers = replace(table, y=np.linspace(0, 1, 120), class_names=())
    data = data_of(page(numbers, runs, verdict, {}, color="column 2"))
    assert [column["name"] for column in data["rows"]["columns"]][:2] == ["target", "column 0"]
    assert data["rows"]["columns"][data["rows"]["asked"]]["name"] == "column 2"


def test_groups_of_the_shown_map_say_what_tells_them_apart(table, runs, verdict):
    groups = data_of(page(table, runs, verdict, {}))["groups"]
    rows = [np.frombuffer(b64decode(group["rows"]), "<u4") for group in groups]
    assert len({group["name"] for group in groups}) == 3
    assert all("column 0" in group["name"] or "column 1" in group["name"] for group in groups)
    assert [group["n"] for group in groups] == [len(found) for found in rows]
    assert all(np.bincount(table.y[found]).max() > 0.9 * len(found) for found in rows)
    assert all(group["stability"] >= 0.65 and "column" in group["lines"][0] for group in groups)
    assert all(
        group["inside"] > 0.9 > 0.5 > group["chance"] > 0 for group in groups
    )  # of the true neighbours


def prepared(table, target, centre, scale):
    """As if each column of numbers had been scaled so."""
    columns = tuple(Column(name, "number") for name in table.feature_names)
    scaled = Scale(np.full(len(columns), centre), np.full(len(columns), scale))
    fill = np.zeros(len(columns))
    return Preparation(columns, target, None, (), (), "onehot", "raise", "standard", fill, scaled)


@pytest.mark.parametrize("target", [None, "price"])
def test_the_target_can_be_asked_for_by_its_name(table, runs, verdict, target):
    preparation = None if target is None else prepared(table, target, 10.0, 2.0)
    prices = replace(table, y=np.linspace(0, 9, 120), class_names=(), preparation=preparation)
    known = data_of(page(prices, runs, verdict, {}, color=target or "target"))["rows"]
    assert known["columns"][0]["name"] == (target or "target")
    assert known["columns"][0]["high"] == 9
    assert known["asked"] is None  # the page begins with the first one
    classes = replace(table, preparation=preparation)
    assert data_of(page(classes, runs, verdict, {}, color=target or "target"))["rows"]["asked"] is None


def test_columns_have_the_units_of_the_table(table, runs, verdict):
    scaled = replace(table, preparation=prepared(table, None, 100.0, 5.0))
    columns = data_of(page(scaled, runs, verdict, {}))["rows"]["columns"]
    assert columns[2]["high"] == pytest.approx(100 + 5 * table.X[:, 2].max(), rel=1e-5)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_an_offset_hides_no_digits_of_a_column(table, runs, verdict, offset):
    X = table.X + offset
    found = data_of(page(replace(table, X=X), runs, verdict, {}))["rows"]["columns"]
    for column, values in zip(found, X.T, strict=True):
        span = values.max() - values.min()
        assert [column["low"], column["high"]] == pytest.approx([values.min(), values.max()], abs=1e-3 * span)
        steps = np.linspace(column["low"], column["high"], 50)
        assert len({f"{step:.{column['digits']}g}" for step in steps}) == 50


def test_a_column_of_text_is_one_column_and_can_be_asked_for(runs, verdict):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"area": random.normal(size=120), "heating": random.choice(["oil", "gas"], 120)})
    for nominal in ("onehot", "coded"):
        mixed = datasets.load(frame.assign(age=random.permutation(120) ** 2), nominal=nominal)
        rows = data_of(page(mixed, runs, verdict, {}, color="heating"))["rows"]
        assert [column["name"] for column in rows["columns"]] == ["area", "heating", "age"]
        assert (rows["asked"], rows["n_left_out"]) == (1, 0)
        assert set(rows["columns"][1]) == {"name", "given"}  # its levels stand with the given columns
    one_level = data_of(page(datasets.load(frame), runs, verdict, {}, color="heating=gas"))["rows"]
    assert [column["name"] for column in one_level["columns"]][one_level["asked"]] == "heating=gas"


def test_a_column_that_is_not_there_is_refused(table, runs, verdict):
    with pytest.raises(InvalidInputError, match="Did you mean 'column 2'"):
        page(table, runs, verdict, {}, color="colum 2")


def test_fifty_classes_are_drawn_as_thirty_two():
    table = make_table(200, n_classes=50)
    runs = make_runs(table, 1)
    classes = data_of(page(table, runs, make_verdict(runs), {}))["rows"]["classes"]
    assert len(classes["names"]) == 32
    assert classes["names"][-1] == "19 smaller classes"
    assert sum(classes["counts"]) == 200


# ---- safety ------------------------------------------------------------------------------------


def test_markup_in_names_is_shown_and_not_run():
    table = make_table(40, markup=True)
    runs = make_runs(table, 1)
    html = page(table, runs, make_verdict(runs, [1, 2, 3]), FACTS)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(&#39;made&#39;)&lt;/script&gt;" in html
    assert html.count("<script") == html.count("</script>") == 2
    assert data_of(html)["rows"]["names"][3] == "<script>alert('row 3')</script>"


def test_nothing_outside_the_page_is_named(html):
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", html) == []
    assert "default-src 'none'" in html


def test_the_same_arguments_give_the_same_bytes(html, table, runs, verdict):
    assert page(table, runs, verdict, FACTS) == html


def test_a_missing_jinja_is_said_in_one_line(monkeypatch, table, runs, verdict):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isentropic\[report\]'") as caught:
        page(table, runs, verdict, {})
    assert "\n" not in str(caught.value)


def test_nine_maps_of_five_thousand_points_take_less_than_seven_megabytes(large_page):
    assert len(large_page.encode()) < 7_000_000  # 1.7 of them are distances to landmarks
    assert "the 240 that vary most; 60 more do not fit on the page" in visible(large_page)


def test_a_sample_of_many_rows_is_stated(monkeypatch, table, runs, verdict):
    monkeypatch.setattr(
        "isentropic.comparison.page_data.sampled_rows",
        lambda table, most=50_000: sampled_rows(table, min(most, 60)),
    )
    html = page(table, runs, verdict, {})
    assert "60 of 120 rows are drawn, in proportion from every class" in visible(html)
    data = data_of(html)
    assert len(data["rows"]["names"]) == data["rows"]["n"] == 60
    assert len(data["maps"][0]["points"]) == 320  # 60 pairs of two bytes, in base64


def test_no_two_of_many_maps_have_one_letter():
    table = make_table(30)
    runs = make_runs(table, 60, quality=assess(table.X, table.X[:, :2], table.y))
    html = page(table, runs, make_verdict(runs), {})
    heads = re.findall(r'<th scope="row" data-order="\d+"><b class="letter[^>]*>(\w+)</b>', html)
    assert len(heads) == 60
    assert len(set(heads)) == 60
    assert (heads[25], heads[26], heads[59]) == ("Z", "AA", "BH")


# ---- columns as they were given ----------------------------------------------------------------


def decoded(column):
    """Codes and values of a column of the page, NaN where a value is missing."""
    codes = np.frombuffer(b64decode(column["codes"]), f"<{column['kind']}").astype(int)
    missing = 255 if column["kind"] == "u1" else 65_535
    if "levels" in column:
        return [None if code == missing else column["levels"][code] for code in codes]
    values = np.frombuffer(b64decode(column["values"]), "<f8")
    return np.where(codes == missing, np.nan, values[np.minimum(codes, len(values) - 1)])


def test_the_page_holds_every_column_as_it_was_given():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "whole": random.integers(0, 9, 300).astype(float), "fine": random.normal(size=300) * 1e-7 + 3.0,
        "word": random.choice(["a", "b", "c"], 300),
    })  # fmt: skip
    frame.loc[::7, "word"] = None
    table = datasets.load(frame, missing="mean")
    given = pack_columns(*code_columns(table, np.arange(300)))
    whole, fine, word = given["columns"]
    assert (whole["kind"], fine["kind"], given["n_all"]) == ("u1", "u2", 3)
    np.testing.assert_allclose(decoded(whole), frame["whole"], rtol=1e-12)
    np.testing.assert_allclose(decoded(fine), frame["fine"], rtol=1e-12)
    assert decoded(word) == [None if value is None or value != value else value for value in frame["word"]]


def test_holes_of_numbers_are_missing(table):
    X = table.X.copy()
    X[::5, 1] = np.nan
    found = decoded(pack_columns(*code_columns(replace(table, X=X), np.arange(120)))["columns"][1])
    np.testing.assert_array_equal(found, X[:, 1])


def test_columns_that_do_not_fit_are_left_out_and_ranks_stay(monkeypatch, table):
    whole = pack_columns(*code_columns(table, np.arange(120)))["columns"]
    monkeypatch.setattr("isentropic.report.payload.page_columns.MOST_BYTES", 330)
    monkeypatch.setattr("isentropic.report.payload.page_columns._FEW_VALUES", 5)
    few = pack_columns(*code_columns(table, np.arange(120)))
    varying = sorted(np.argsort(-table.X.var(axis=0))[:2])
    assert ([one["name"] for one in few["columns"]], few["n_all"]) == ([f"column {j}" for j in varying], 4)
    for one, j in zip(few["columns"], varying, strict=True):
        assert one["codes"] == whole[j]["codes"]
        ends = np.frombuffer(b64decode(one["values"]), "<f8")[[0, -1]]
        np.testing.assert_array_equal(ends, [table.X[:, j].min(), table.X[:, j].max()])
