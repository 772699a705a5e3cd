"""What a reader sees in a real browser: names, dates, ranks, tooltips, identical rows, three widths."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from browsing import LAPTOP, READY, Heard, place
from made_comparisons import FACTS, make_runs, make_table, make_verdict, page

from isentropic import datasets, report
from isentropic._core.errors import TableWarning
from isentropic.comparison import collect_page_data
from isentropic.comparison.budget.comparison_plan import select_rows
from isentropic.report.payload.page_rows import near_counts

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser

N = 160
NEWEST, OLDEST = "2022-06-09", "2022-01-01"
# the boxes of all names that are drawn on a map, and whether two of them meet
NAMES = """(f) => { const view = isentropic.views[f], boxes = [], put = Labels.prototype.put;
  Labels.prototype.put = function (...args) { put.apply(this, args); window.taken = this.taken; };
  view.drawOver();
  Labels.prototype.put = put;
  return window.taken.map(({ x, y, half, tall }) => [x - half, y - tall, x + half, y + tall]); }"""


def frame():
    random = np.random.default_rng(0)
    found = pd.DataFrame({f"x{j}": random.normal(size=N) for j in range(6)})
    found["pay"] = np.exp(4 * random.normal(size=N))
    days = pd.date_range(OLDEST, periods=N).to_numpy(copy=True)
    random.shuffle(days[1:-1])  # dates in the order of the rows would be labels
    found["day"] = days
    return found


@pytest.fixture(scope="module")
def table():
    with pytest.warns(TableWarning, match="dates count"):
        return datasets.load(frame(), metric="euclidean", tails="keep")


@pytest.fixture(scope="module")
def tab(browser, table, tmp_path_factory):
    runs = make_runs(table, 3, quality=make_runs(make_table(N), 1)[0].quality)
    copies = np.ones(N, int)
    copies[[0, 1]] = 14, 4
    columns = [{"name": "x3", "share": 0.9, "role": "feature", "command": "--label x3"}]
    filled = {"why": "", "kind": "number", "missing": 0, "change": ""}
    facts = {**FACTS, "columns": [{**one, **filled} for one in columns]}
    path = tmp_path_factory.mktemp("reading") / "made.html"
    path.write_text(page(table, runs, make_verdict(runs), facts, copies=copies), encoding="utf-8")
    tab = browser.new_page(viewport=LAPTOP)
    tab.heard = Heard(tab)
    tab.goto(path.as_uri())
    tab.wait_for_function(READY)
    yield tab
    assert tab.heard.complaints == []
    tab.close()


def legend(tab):
    return tab.locator(".hero .legend").inner_text().replace("\u00a0", " ")


def told(tab, row):
    return tab.evaluate("(row) => isentropic.valuesOf(row, isentropic.data.maps[0])", row)


# ---- colours -----------------------------------------------------------------------------------


def test_dates_are_dates_in_the_legend_and_the_tooltip(tab):
    tab.select_option("#color", label="day")
    words = legend(tab)
    assert OLDEST in words
    assert NEWEST in words
    assert told(tab, 0)[0] == f"day: {OLDEST}"
    tab.select_option("#color", label="x1")
    assert f"day: {NEWEST}" in tab.evaluate("""() => isentropic.tipColumns
      .map((column) => `${column.name}: ${column.text(column.codes[159])}`)""")


def test_skewed_numbers_are_coloured_by_rank_and_others_are_not(tab, table):
    tab.select_option("#color", label="pay")
    assert legend(tab).startswith("pay (colour by rank):")
    codes = tab.evaluate("[...isentropic.way.codes()]")
    ranks = frame()["pay"].rank().to_numpy() - 1
    np.testing.assert_allclose(codes, 254 * ranks / (N - 1), atol=0.51)
    tab.select_option("#color", label="x1")
    assert "rank" not in legend(tab)
    values = frame()["x1"].to_numpy()
    expected = 254 * (values - values.min()) / np.ptp(values)
    np.testing.assert_allclose(tab.evaluate("[...isentropic.way.codes()]"), expected, atol=0.51)


def test_both_lists_of_colours_say_the_same(tab):
    tab.select_option(".hero select.color", label="pay")
    assert tab.locator("#color").evaluate("(one) => one.selectedOptions[0].label") == "pay"


def test_all_rows_of_the_large_map_are_coloured_by_any_column(open_page, tmp_path):
    everything = make_table(n=300)
    rows = np.arange(0, 300, 3)
    few = select_rows(everything, rows)
    runs = [replace(run, rows=rows) for run in make_runs(few)]
    verdict = replace(make_verdict(runs), sampled="Compared on 100 of 300 rows.")
    drawn = collect_page_data(few, runs, verdict, full_run=make_runs(everything, 1)[0], full_table=everything)
    path = tmp_path / "large.html"
    path.write_text(report.page(few, runs, verdict, drawn, {**FACTS, "rows": 300}), encoding="utf-8")
    tab = open_page(path.as_uri())
    tab.evaluate("isentropic.setColor('column:0')")
    shades = np.array(tab.evaluate("[...isentropic.way.others()]"))
    others = np.setdiff1d(np.arange(300), rows)
    known, values = few.X[:, 0], everything.X[others, 0]
    expected = np.clip(254 * (values - known.min()) / np.ptp(known), 0, 254)
    assert np.abs(shades - expected).max() < 20  # of the nearest of 100 known values
    assert np.corrcoef(shades, expected)[0, 1] > 0.99
    assert "This file contains 300 rows" in tab.locator(".notice").inner_text()


# ---- names -------------------------------------------------------------------------------------


def apart(boxes):
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            if not (one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]):
                return False
    return True


def test_the_helper_notices_boxes_that_meet():
    assert apart([(0, 0, 2, 2), (2, 0, 4, 2)])
    assert not apart([(0, 0, 2, 2), (1, 1, 4, 2)])


def test_a_class_is_named_where_it_is_densest(tab):
    """A class of 30 rows in one place and 20 far away: its mean lies in another class."""
    script = """() => { const points = [], codes = [], put = (n, x, y, code) => {
      for (let i = 0; i < n; i++) { points.push(x + 300 * (i % 6), y + 300 * (i % 5)); codes.push(code); } };
      put(30, 5000, 5000, 0); put(20, 60000, 5000, 0); put(50, 30000, 5000, 1);
      return densestPlaces(Uint16Array.from(points), Uint8Array.from(codes), 3); }"""
    first, second, none = tab.evaluate(script)
    assert abs(first["x"] - 5750) < 600
    assert abs(second["x"] - 30750) < 600
    assert (first["n"], second["n"], none) == (50, 50, None)


def test_names_of_classes_do_not_overlap(open_page, tmp_path):
    table = make_table(300, n_classes=12)
    runs = make_runs(table, 2)
    path = tmp_path / "classes.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    boxes = tab.evaluate(NAMES, 0)
    assert len(boxes) >= 6
    assert apart(boxes)


def test_groups_are_named_beside_their_rows_where_no_class_is(open_page, tmp_path):
    table = replace(make_table(), y=None, class_names=())
    runs = make_runs(table, 2)
    verdict = make_verdict(runs)
    path = tmp_path / "groups.html"
    path.write_text(page(table, runs, verdict, FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    boxes = np.array(tab.evaluate(NAMES, 0))
    assert len(boxes) == tab.evaluate("isentropic.data.groups.length") >= 2
    assert apart(boxes)
    points = np.array(tab.evaluate("((v) => [...v.px].map((x, i) => [x, v.py[i]]))(isentropic.views[0])"))
    below = points[:, None, :] > boxes[None, :, :2]
    above = points[:, None, :] < boxes[None, :, 2:]
    assert (below & above).all(axis=2).sum() < 0.2 * len(points)  # few points lie under a name
    none = replace(verdict, recommended=None)
    path.write_text(page(table, runs, none, FACTS), encoding="utf-8")
    assert not open_page(path.as_uri()).evaluate("isentropic.data.named_groups")


def test_few_rows_have_their_names_beside_them(open_page, tmp_path):
    table = replace(make_table(50), row_names=tuple(f"town {i}" for i in range(50)))
    runs = make_runs(table, 2)
    path = tmp_path / "few.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    boxes = tab.evaluate(NAMES, 0)
    assert len(boxes) >= 25
    assert apart(boxes)
    assert not tab.evaluate(
        "isentropic.names = isentropic.names.map((_, i) => String(i)), isentropic.hasNamedRows"
    )


# ---- the row under the pointer -----------------------------------------------------------------


def test_a_tooltip_has_six_columns_the_colour_first_then_those_that_decide(tab):
    tab.select_option("#color", label="x1")
    tab.mouse.move(*place(tab, 0, 9))
    row = tab.evaluate("isentropic.hovered")
    values = tab.locator("#tip .value").all_inner_texts()
    assert len(values) == 6
    assert values[0].startswith("x1: ")
    assert values[1].startswith("x3: ")  # the largest share of the distance
    assert float(values[1].split()[1]) == pytest.approx(frame()["x3"][row], rel=1e-3)
    tab.mouse.move(2, 2)


def test_a_tooltip_says_how_many_points_beside_it_are_close(tab):
    counts = np.full(N, 9, np.uint8)
    counts[[3, 4, 5]] = 1, 3, 255
    said = tab.evaluate(
        """(counts) => { const text = btoa(String.fromCharCode(...counts));
      const map = { run: 99, near: { k: 10, counts: text } };
      return [0, 3, 4, 5].map((row) => isentropic.nearText(row, map)); }""",
        counts.tolist(),
    )
    assert said == [
        "9 of the 10 points beside it are close in the data.",
        "Doubtful: only 1 of the 10 points beside it is close in the data.",
        "Doubtful: only 3 of the 10 points beside it are close in the data.",
        "",
    ]


def test_near_neighbours_are_counted_where_they_were_measured():
    quality = SimpleNamespace(
        rows=np.array([0, 2]), n_neighbors=(10, 30), near_neighbors=np.array([[0.9, 0.1], [0.3, 0.2]])
    )
    found = near_counts(SimpleNamespace(quality=quality), 4, np.arange(4))
    assert found == {"near": {"k": 10, "counts": "Cf8D/w=="}}  # 9, 255, 3, 255
    without = SimpleNamespace(quality=SimpleNamespace(rows=np.array([0]), n_neighbors=(10,)))
    assert near_counts(without, 4, np.arange(4)) == {}


def test_a_point_of_identical_rows_is_larger_and_says_how_many(tab):
    assert tab.evaluate("[0, 1, 2].map((row) => isentropic.growth(row))") == pytest.approx([14**0.5, 2, 1])
    sizes = tab.evaluate("[14, 4, 1, 900].map((n) => isentropic.views[0].stampOf('disc', n).reach)")
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[3] == tab.evaluate("isentropic.views[0].stampOf('disc', 16).reach")  # no larger than that
    tab.mouse.move(*place(tab, 0, 0))
    tab.evaluate("isentropic.showTip(0, isentropic.views[0], 10, 10)")
    assert "14 identical rows" in tab.locator("#tip").inner_text()
    tab.evaluate("isentropic.showTip(2, isentropic.views[0], 10, 10)")
    assert "identical" not in tab.locator("#tip").inner_text()
    tab.mouse.move(2, 2)


# ---- the page ----------------------------------------------------------------------------------


def test_a_command_is_copied_by_one_click(tab):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = tab.locator("#columns .copy").first
    button.click()
    tab.wait_for_function("() => document.querySelector('#columns .copy').textContent !== 'Copy'")
    assert button.inner_text() == "Copied"
    assert tab.evaluate("navigator.clipboard.readText()") == "--label x3"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1366, 768), (2560, 1440)])
def test_it_fits_every_width_and_leaves_no_half_empty(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    box = """(name) => { const { left, top, right, bottom } =
      document.querySelector(name).getBoundingClientRect(); return { left, top, right, bottom }; }"""
    hero, answer, maps = (tab.evaluate(box, name) for name in (".hero .paper", ".answer", "#maps"))
    headline = tab.evaluate(box, ".headline")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert headline["bottom"] <= hero["top"]
    if width == 390:
        assert hero["bottom"] <= answer["top"]
        assert hero["right"] - hero["left"] > 0.85 * width
    else:
        assert hero["right"] <= answer["left"]
        assert answer["bottom"] <= height  # without scrolling
        assert (hero["right"] - hero["left"]) * (hero["bottom"] - hero["top"]) > 0.4 * width * height
    if width == 2560:
        assert maps["left"] >= answer["right"]  # a third column
        assert maps["right"] > width - 40
    tab.set_viewport_size(LAPTOP)
