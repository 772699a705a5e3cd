"""Selections on the page: the browser says what Python says, and the honest lasso mends what a map tore."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from browsing import drag, drawn, place, selected
from made_comparisons import FACTS, first_columns, make_runs, make_table, make_verdict, page

from isentropic import datasets, explain
from isentropic._core.errors import TableWarning
from isentropic.comparison import collect_page_data
from isentropic.comparison.explain.explanation import _day, _number
from isentropic.comparison.page_data import shown_groups
from isentropic.quality import assess, check_selection, corrected_selection

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser

N = 600
ASK = """([rows, against]) => { const flags = (list) => { const found = new Uint8Array(isentropic.n);
    for (const row of list) found[row] = 1; return found; };
  const inside = flags(rows), outside = against ? flags(against) : inside.map((flag) => 1 - flag);
  const steps = explaining(isentropic.selecting.columns, inside, outside);
  for (;;) { const { value, done } = steps.next();
    if (done) return { ...value, lines: explanationLines(value) }; } }"""


def mixed_frame(seed, n=N):
    """Numbers with and without ties, whole numbers, far ones, holes and levels; rows of three groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "length": np.round(rng.normal(size=n) + 2.0 * (group == 0), 1),
            "price": np.exp(3 * rng.normal(size=n) + 2.0 * (group == 1)),
            "rooms": rng.integers(1, 5, n) + 2 * (group == 2),
            "noise": rng.normal(size=n),
            "more noise": rng.normal(size=n),
            "heating": np.where(group == 0, "oil", rng.choice(["oil", "gas", "wood"], n, p=[0.2, 0.5, 0.3])),
            "floor": rng.choice(["low", "high"], n),
            "nearly constant": np.arange(n) == 7,
        }
    )
    return frame, group


def cut_map(table, group):
    """Groups side by side, and the first of them in two places, far apart."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(len(group), 2)) * 0.5 + np.column_stack([5.0 * group, np.zeros(len(group))])
    away = (group == 0) & (rng.random(len(group)) < 0.5)
    Z[away] += [0.0, 12.0]
    run = replace(make_runs(make_table(20))[0], embedding=Z, quality=assess(table.X, Z), trials=())
    return run, away


@pytest.fixture(scope="module")
def planted():
    """A table of three groups of which the map cuts the first in two."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 150)
    X = rng.normal(size=(450, 6)) + 6.0 * np.eye(6)[group]
    table = replace(make_table(450, m=6), X=X, y=group)
    run, away = cut_map(table, group)
    return table, run, away, group


@pytest.fixture(scope="module")
def cut_page(tmp_path_factory, planted):
    table, run, *_ = planted
    return written(tmp_path_factory.mktemp("cut") / "cut.html", table, [run])


def written(path, table, runs):
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    return path.as_uri()


# ---- the browser says what Python says ---------------------------------------------------------


def assert_same_explanation(told, found):
    """Every number of every difference, and the sentences."""
    for key in ("n_rows", "n_against", "n_columns", "n_tested", "alpha"):
        assert told[key] == getattr(found, key), key
    assert tuple(told["skipped"]) == found.skipped
    named = [(one["column"], one["level"]) for one in told["differences"]]
    assert named == [(one.column, one.level) for one in found.differences]
    for one, other in zip(told["differences"], found.differences, strict=True):
        for key in ("auc", "low", "high", "p", "inside", "outside"):
            assert one[key] == pytest.approx(getattr(other, key), rel=1e-9, abs=1e-300), (one["column"], key)
        assert one["lift"] == (None if other.lift is None else pytest.approx(other.lift, rel=1e-9))
    assert tuple(told["lines"]) == found.lines


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    frame, group = mixed_frame(0)
    frame.loc[::9, "heating"] = None
    frame["sold"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(np.arange(N) + 400 * (group == 1), unit="D")
    with pytest.warns(TableWarning, match="dates count as features"):
        table = datasets.load(frame, missing="mean", tails="keep")
    run, _ = cut_map(table, group)
    return table, group, written(tmp_path_factory.mktemp("mixed") / "mixed.html", table, [run])


def test_it_explains_as_python_does(open_page, mixed):
    table, group, address = mixed
    tab = open_page(address)
    rng = np.random.default_rng(2)
    selections = [
        (np.flatnonzero(group == 0), None),
        (np.flatnonzero(group == 1)[:40], np.flatnonzero(group == 2)),
        (rng.choice(N, 200, replace=False), None),  # nothing to say
        (np.flatnonzero(group == 0)[:12], None),  # halves of six: exact ranks
        (np.flatnonzero(group == 2)[:17], np.flatnonzero(group == 1)[:11]),
    ]
    n_named = 0
    for rows, against in selections:
        told = tab.evaluate(ASK, [rows.tolist(), None if against is None else against.tolist()])
        found = explain(table, rows, against)
        assert_same_explanation(told, found)
        n_named += len(found.differences)
    assert n_named >= 6


def test_many_rows_are_explained_alike(open_page, tmp_path):
    """Beyond 5,000 rows shares are compared by Pearson's test."""
    frame, group = mixed_frame(3, 11_000)
    table = datasets.load(frame, tails="keep")
    quality = assess(table.X[:, :3], table.X[:, :2], sample=100, measures="ranks")
    run = replace(make_runs(make_table(20))[0], embedding=table.X[:, :2], quality=quality, trials=())
    tab = open_page(written(tmp_path / "many.html", table, [run]))
    rows = np.flatnonzero(group == 0)
    assert_same_explanation(tab.evaluate(ASK, [rows.tolist(), None]), explain(table, rows))


def test_the_comparison_of_explanations_can_fail(open_page, mixed):
    table, group, address = mixed
    rows = np.flatnonzero(group == 0)
    told = open_page(address).evaluate(ASK, [rows.tolist(), None])
    found = explain(table, rows)
    for other in (explain(table, rows[:-1]), explain(table, rows, random_state=1)):
        with pytest.raises(AssertionError):
            assert_same_explanation(told, other)
    told["differences"][0]["low"] += 1e-6
    with pytest.raises(AssertionError):
        assert_same_explanation(told, found)


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_numbers_are_rounded_as_python_rounds(open_page, cut_page, digits):
    tab = open_page(cut_page)
    values = [0.125, 0.375, 2.5, 3.5, 0.25, 0.05, 12.5, 1e-9, 0.995, 99.995, 0.0, 1.0]
    assert tab.evaluate("([list, d]) => list.map((v) => fixed(v, d))", [values, digits]) == [
        f"{value:.{digits}f}" for value in values
    ]
    numbers = [
        *values,
        12345.0,
        12355.0,
        123456.0,
        0.00012345,
        1.2e-5,
        -7.5,
        -12345.0,
        61.0,
        1e22,
        9999.5,
        1234.5,
    ]
    assert tab.evaluate("(list) => list.map((v) => general(v))", numbers) == [f"{v:.4g}" for v in numbers]
    large = [*numbers, 9999.999, 10000.5, 452301.7, -1234567.5, 999999999999.0, 1e12, -1e4, float("1e300")]
    assert tab.evaluate("(list) => list.map((v) => numberText(v))", large) == [_number(v) for v in large]
    moments = [0.0, -0.5, 18262.7, -719162.0, 2932896.9, 2932897.0, -719163.0, 1e7]
    assert tab.evaluate("(list) => list.map((v) => dayText(v))", moments) == [_day(v) for v in moments]


def test_the_lasso_is_checked_as_python_does(open_page, cut_page, planted):
    table, run, *_ = planted
    near = collect_page_data(table, [run], make_verdict([run])).neighbors
    tab = open_page(cut_page)
    script = """(rows) => { const { neighbors, k, n } = isentropic, flags = new Uint8Array(n);
      for (const row of rows) flags[row] = 1;
      const found = correctedSelection(neighbors, k, flags);
      const after = [...found.keys()].filter((i) => found[i]);
      return { ...checkedSelection(neighbors, k, flags), after }; }"""
    rng = np.random.default_rng(0)
    for size in (1, 30, 120, 300, 450):
        rows = rng.choice(450, size, replace=False)
        told, found = tab.evaluate(script, rows.tolist()), check_selection(near, rows)
        assert (told["kept"], told["chance"]) == pytest.approx((found.inside, found.chance))
        assert told["leftOut"] == found.left_out.tolist()
        assert told["strangers"] == found.strangers.tolist()
        assert told["after"] == corrected_selection(near, rows).tolist()


# ---- what a person does ------------------------------------------------------------------------


def around(tab, figure, rows):
    """Drag a box around rows of a map."""
    script = """([f, rows]) => { const v = isentropic.views[f];
      const of = (list) => rows.map((r) => list[r] / v.ratio);
      return [of(v.px), of(v.py)]; }"""
    place(tab, figure, int(rows[0]))
    px, py = tab.evaluate(script, [figure, [int(row) for row in rows]])
    box = tab.locator("figure.map").nth(figure).locator("canvas.over").bounding_box()
    edges = max(0, min(px) - 4), max(0, min(py) - 4), max(px) + 4, max(py) + 4
    drag(tab, (box["x"] + edges[0], box["y"] + edges[1]), (box["x"] + edges[2], box["y"] + edges[3]))


def answered(tab):
    tab.wait_for_function("() => isentropic.selecting.answer !== null")


def all_lines(tab):
    """What sets the selection apart, the lines that wait for a click among them."""
    answered(tab)
    more = tab.locator("#selection .why .link")
    if more.count():
        more.click()
    items = "document.querySelectorAll('#selection .differences li').length"
    tab.wait_for_function(f"() => {items} === explanationLines(isentropic.selecting.answer).length")
    return tuple(tab.locator("#selection .differences li span").all_inner_texts())


def test_the_honest_lasso_restores_a_group_that_the_map_cut_in_half(open_page, cut_page, planted):
    _, _, away, group = planted
    tab = open_page(cut_page)
    half = np.flatnonzero((group == 0) & ~away)
    around(tab, 0, half)
    caught = selected(tab)
    assert set(half) <= caught
    recall = len(caught & set(np.flatnonzero(group == 0))) / (group == 0).sum()
    assert recall < 0.65
    panel = tab.locator("#selection")
    assert "left out: most of their nearest rows are inside" in panel.inner_text()
    # rings are drawn where the others are, in every map
    ring = """() => { const v = isentropic.views[0], row = isentropic.selecting.check.leftOut[0];
      const r = v.radius + 2 * v.ratio, accent = isentropic.rgb(isentropic.css("--accent"));
      const [x, y] = [v.px, v.py].map((places) => Math.round(places[row] - r - 4));
      const { data } = v.base.getContext("2d").getImageData(x, y, 2 * r + 8, 2 * r + 8);
      const off = (p) => Math.hypot(...accent.map((value, c) => data[p + c] - value));
      let hits = 0; for (let p = 0; p < data.length; p += 4) hits += off(p) < 40;
      return hits; }"""
    assert tab.evaluate(ring) >= 8
    tab.locator("#correct").click()
    restored, truth = selected(tab), set(np.flatnonzero(group == 0).tolist())
    assert len(restored & truth) / len(truth) >= 0.95
    assert len(restored & truth) / len(restored) >= 0.95
    assert "Nobody is left out, and nobody is a stranger." in panel.inner_text()
    assert f"{len(restored - caught)} joined" in panel.inner_text()
    tab.keyboard.press("Enter")  # Undo has the focus
    assert selected(tab) == caught
    assert tab.heard.complaints == []


def test_rows_that_are_no_group_are_not_corrected_away(open_page, cut_page, planted):
    table, run, *_ = planted
    near = collect_page_data(table, [run], make_verdict([run])).neighbors
    rows = np.arange(0, 450, 15)
    assert len(corrected_selection(near, rows)) == 0
    tab = open_page(cut_page)
    tab.evaluate("(rows) => isentropic.selectRows(rows)", rows.tolist())
    tab.locator("#correct").click()
    assert "Nobody would stay" in tab.locator("#selection").inner_text()
    assert selected(tab) == set(rows.tolist())


def test_why_these_rows_stands_beside_the_maps(open_page, mixed):
    table, group, address = mixed
    tab = open_page(address)
    assert "Drag over points" in tab.locator("#selection").inner_text()
    tab.evaluate("(rows) => isentropic.selectRows(rows)", np.flatnonzero(group == 0).tolist())
    lines = explain(table, group == 0).lines
    assert all_lines(tab) == lines
    assert tab.locator("#selection .distribution").count() == len(lines)
    tab.keyboard.press("Escape")
    assert "Drag over points" in tab.locator("#selection").inner_text()
    assert tab.locator("#selection .differences").count() == 0


def test_two_selections_are_compared(open_page, mixed):
    table, group, address = mixed
    tab = open_page(address)
    first, second = np.flatnonzero(group == 1), np.flatnonzero(group == 2)
    tab.evaluate("(rows) => isentropic.selectRows(rows)", first.tolist())
    tab.locator("#keep").click()
    assert f"{len(first)} rows kept" in tab.locator("#selection").inner_text()
    tab.evaluate("(rows) => isentropic.selectRows(rows)", [*second.tolist(), int(first[0])])
    assert all_lines(tab) == explain(table, first, second).lines
    tab.locator("#release").click()
    assert all_lines(tab) == explain(table, [*second, first[0]]).lines


def test_few_rows_say_that_they_are_too_few(open_page, cut_page):
    tab = open_page(cut_page)
    tab.evaluate("isentropic.selectRows([1, 2, 3])")
    assert "At least 10 rows are needed to say." in tab.locator("#selection").inner_text()
    tab.evaluate("isentropic.select(new Uint8Array(isentropic.n).fill(1)); isentropic.tell('settle')")
    assert "At least 10 others are needed to say." in tab.locator("#selection").inner_text()


def test_a_new_selection_stops_the_reading_of_the_last(open_page, mixed):
    _, group, address = mixed
    tab = open_page(address)
    asked = "([a, b]) => { isentropic.selectRows(a); isentropic.selectRows(b); }"
    tab.evaluate(asked, [np.flatnonzero(group == 0).tolist(), np.flatnonzero(group == 1).tolist()])
    answered(tab)
    tab.wait_for_timeout(50)
    assert tab.evaluate("isentropic.selecting.answer.n_rows") == (group == 1).sum()


def test_the_large_map_says_how_honest_a_selection_is(open_page, cut_page, planted):
    *_, away, group = planted
    tab = open_page(cut_page)
    tab.evaluate("(rows) => isentropic.selectRows(rows)", np.flatnonzero(away).tolist())
    brief = tab.locator(".brief")
    assert "of their true neighbours are inside" in brief.inner_text()
    brief.locator("button").click()
    assert selected(tab) == set(np.flatnonzero(group == 0).tolist())


# ---- groups that were found --------------------------------------------------------------------


def test_a_click_selects_a_group_that_was_found(open_page, cut_page, planted):
    table, run, *_ = planted
    groups = shown_groups(table, [run], make_verdict([run]), embed=first_columns).groups
    assert len(groups) == 2  # the first of three is in two places, which halves of the rows do not show again
    tab = open_page(cut_page)
    buttons = tab.locator("#groups button")
    assert buttons.count() == 2
    assert f"{groups[0].stability:.0%} the same in halves of the rows" in buttons.nth(0).inner_text()
    assert groups[0].lines[0] in buttons.nth(0).inner_text()
    buttons.nth(1).focus()
    tab.keyboard.press("Enter")
    assert selected(tab) == set(groups[1].rows.tolist())
    assert [buttons.nth(i).get_attribute("aria-pressed") for i in range(2)] == ["false", "true"]
    assert "true neighbours inside" in tab.locator("#selection").inner_text()
    tab.keyboard.press("Escape")
    assert buttons.nth(1).get_attribute("aria-pressed") == "false"


def test_a_map_without_groups_says_so(open_page, tmp_path):
    table = make_table(60, n_classes=1)
    runs = make_runs(table, 1)
    said = make_verdict(runs)
    answer = replace(said.groups, level="no", sentence="No groups: what looks like one is chance.")
    none = replace(said, groups=answer)
    path = tmp_path / "cloud.html"
    path.write_text(page(table, runs, none, FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    assert "No groups: what looks like one is chance." in tab.locator("#groups").inner_text()


# ---- many maps ---------------------------------------------------------------------------------

NAMES = (
    "pca",
    "classical-mds",
    "isomap",
    "t-sne",
    "umap",
    "lle",
    "sdd",
    "lpp",
    "npe",
    "sammon",
    "som",
    "ltsa",
)


def many_maps():
    from made_comparisons import with_value

    table = make_table(40)
    one = make_runs(table, 1)[0]
    runs = [replace(one, method=name, trials=()) for name in NAMES]
    verdict = make_verdict(runs)
    ratings = [
        replace(
            one,
            neighbors=with_value(one.neighbors, 0.5 + 0.01 * one.run),
            distances=with_value(one.distances, 0.8),
            usable=one.run != 11,
        )
        for one in verdict.ratings
    ]
    return table, runs, replace(verdict, recommended=2, shown=2, ratings=tuple(ratings))


def test_the_best_eight_maps_come_first_and_the_others_by_family(open_page, tmp_path):
    table, runs, verdict = many_maps()
    path = tmp_path / "many.html"
    path.write_text(page(table, runs, verdict, FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    figures = tab.locator("#maps figure.map")
    shown = [int(figure.get_attribute("data-run")) for figure in figures.all() if figure.is_visible()]
    assert shown == [2, 10, 9, 8, 7, 6, 5, 4]  # the recommended one, then by what they keep; trust first
    assert tab.locator("#scores tbody tr").count() == 12
    painted = "isentropic.views.map((view) => view.painted ?? 0)"
    drawn(tab)
    assert tab.evaluate(painted) == [1] * 9 + [0] * 4
    button = tab.locator("#all")
    assert button.inner_text() == "Show all 12 maps"
    button.focus()
    tab.keyboard.press("Enter")
    assert all(figure.is_visible() for figure in figures.all())
    assert figures.count() == 12
    drawn(tab)
    assert tab.evaluate(painted) == [1] * 13
    families = [text.lower() for text in tab.locator("h4.family").all_inner_texts()]
    assert families == ["neighbours", "stress", "linear", "spectral"]  # of t-SNE, classical MDS, PCA, LTSA
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.keyboard.press("Enter")
    assert [figure.is_visible() for figure in figures.all()].count(True) == 8
    assert tab.heard.complaints == []


def test_many_differences_are_listed_when_they_are_asked_for(open_page, tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    table = replace(make_table(120, m=9), X=rng.normal(size=(120, 9)) + 4.0 * group[:, None])
    tab = open_page(written(tmp_path / "nine.html", table, make_runs(table, 1)))
    tab.evaluate("(rows) => isentropic.selectRows(rows)", np.flatnonzero(group).tolist())
    answered(tab)
    items = tab.locator("#selection .differences li")
    assert items.count() == 5
    more = tab.locator("#selection .why .link")
    assert more.inner_text() == "Show all 9"
    assert all_lines(tab) == explain(table, group == 1).lines
    assert tab.locator("#selection .distribution").count() == 9
    assert more.count() == 0
