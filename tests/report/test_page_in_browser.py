"""The page in a real browser: quiet, self-contained, and its maps linked."""

from dataclasses import replace

import numpy as np
import pytest
from browsing import drag, drawn, has_size, place, selected
from made_comparisons import FACTS, make_runs, make_supervised, make_table, make_verdict, page
from matplotlib.path import Path as MatplotlibPath

from isentropic import report
from isentropic.comparison import collect_page_data
from isentropic.comparison.budget.comparison_plan import select_rows

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory, table, runs, verdict):
    return write(tmp_path_factory.mktemp("page") / "made.html", table, runs, verdict)


def write(path, table, runs, verdict, **options):
    path.write_text(page(table, runs, verdict, FACTS, **options), encoding="utf-8")
    return path.as_uri()


def colours(tab, figure):
    """How many pixels of a map have each colour, coarsely."""
    drawn(tab)
    script = """(f) => { const { data } = isentropic.views[f].image, found = {};
      for (let p = 0; p < data.length; p += 4) {
        const key = [data[p] >> 5, data[p + 1] >> 5, data[p + 2] >> 5].join();
        found[key] = (found[key] || 0) + 1; } return found; }"""
    return tab.evaluate(script, figure)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_complaint_and_asks_for_nothing(open_page, address, scheme):
    tab = open_page(address, color_scheme=scheme)
    tab.mouse.wheel(0, 4_000)
    assert tab.heard.complaints == []
    assert tab.heard.requests == [address]
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_brush_selects_the_same_rows_in_every_map(open_page, address, runs):
    tab = open_page(address)
    figures = tab.locator("figure.map").count()
    assert figures == 4  # the recommended map once more, and three maps
    Z = runs[1].embedding
    row = int(np.argmin(Z[:, 0]))
    x, y = place(tab, 2, row)
    drag(tab, (x - 6, y - 6), (x + 60, y + 40))
    found = selected(tab)
    places = (
        "((v) => [[...v.px], [...v.py]].map((list) => list.map((p) => p / v.ratio)))(isentropic.views[2])"
    )
    px, py = np.array(tab.evaluate(places))
    left, top = px[row] - 6, py[row] - 6
    inside = (px >= left) & (px <= left + 66) & (py >= top) & (py <= top + 46)
    sure = (px >= left + 1) & (px <= left + 65) & (py >= top + 1) & (py <= top + 45)  # not on the very edge
    assert row in found
    assert set(np.flatnonzero(sure)) <= found
    assert len(found) <= inside.sum() + 2
    assert len(found) < len(Z)
    # The selected rows, and no others, stand out in another map.
    drawn(tab)
    assert tab.evaluate("""() => { const v = isentropic.views[3], paper = isentropic.paper;
      const loud = (i) => { const p = 4 * (Math.floor(v.py[i]) * v.width + Math.floor(v.px[i]));
        return Math.max(...[0, 1, 2].map((c) => Math.abs(v.image.data[p + c] - paper[c]))) > 60; };
      const chosen = [...isentropic.selected.keys()].filter((i) => isentropic.selected[i]);
      return chosen.every(loud); }""")
    assert f"{len(found)} of 120 rows selected" in tab.locator("#status").inner_text()
    tab.keyboard.press("Escape")
    assert selected(tab) == set()


def test_shift_adds_to_the_selection(open_page, address):
    tab = open_page(address)
    for row in (3, 77):
        x, y = place(tab, 1, row)
        if row == 77:
            tab.keyboard.down("Shift")
        drag(tab, (x - 7, y - 7), (x + 7, y + 7))
    assert {3, 77} <= selected(tab)


def inside(tab, figure, polygon):
    """Rows inside a polygon on the screen."""
    box = tab.locator("figure.map").nth(figure).locator("canvas.over").bounding_box()
    places = "(f) => { const { px, py, ratio } = isentropic.views[f]; return [[...px], [...py], ratio]; }"
    px, py, ratio = tab.evaluate(places, figure)
    points = np.column_stack([np.array(px) / ratio + box["x"], np.array(py) / ratio + box["y"]])
    return set(np.flatnonzero(MatplotlibPath(polygon).contains_points(points)).tolist())


def test_a_brush_that_ends_before_the_next_frame_selects_what_it_covers(open_page, address):
    tab = open_page(address)
    x, y = place(tab, 1, 3)
    tab.evaluate(
        """([x, y]) => { const { over } = isentropic.views[1];
      over.setPointerCapture = () => {}; // these events have no pointer
      for (const [kind, dx, dy] of [["down", -60, -50], ["move", 0, 0], ["move", 60, 50], ["up", 60, 50]])
        over.dispatchEvent(new PointerEvent("pointer" + kind, { clientX: x + dx, clientY: y + dy })); }""",
        [x, y],
    )
    corners = [(x - 60, y - 50), (x + 60, y - 50), (x + 60, y + 50), (x - 60, y + 50)]
    assert selected(tab) == inside(tab, 1, corners)


def test_with_alt_a_selection_is_drawn_freely(open_page, address):
    tab = open_page(address)
    x, y = place(tab, 1, 3)
    triangle = [(x - 60, y + 40), (x + 60, y + 40), (x, y - 50)]
    tab.keyboard.down("Alt")
    tab.mouse.move(*triangle[0])
    tab.mouse.down()
    for corner in triangle[1:]:
        tab.mouse.move(*corner)
    tab.mouse.up()
    tab.keyboard.up("Alt")
    found = selected(tab)
    assert 3 in found
    assert found == inside(tab, 1, triangle)
    assert tab.heard.complaints == []


def test_hover_shows_the_name_and_the_true_neighbours(open_page, address, table):
    tab = open_page(address)
    tab.mouse.move(*place(tab, 1, 5))
    tip = tab.locator("#tip")
    name = table.row_names[tab.evaluate("isentropic.hovered")]
    assert tip.locator("strong").inner_text() == name
    row = tab.evaluate("isentropic.hovered")
    nearest = np.argsort(np.linalg.norm(table.X - table.X[row], axis=1), kind="stable")[1:6]
    assert ", ".join(table.row_names[i] for i in nearest) in tip.inner_text()
    inked = (
        "(f) => isentropic.views[f].over.getContext('2d').getImageData(0, 0, 4000, 4000).data.some((v) => v)"
    )
    tab.evaluate("isentropic.setColor('false')")  # without names of classes on top
    tab.evaluate("for (const v of isentropic.views) v.drawOver()")
    assert tab.evaluate(inked, 3)  # lines in the other maps too
    tab.mouse.move(2, 2)
    assert tip.is_hidden()
    assert not tab.evaluate(inked, 3)


def test_a_click_holds_a_row_until_escape(open_page, address):
    tab = open_page(address)
    tab.mouse.click(*place(tab, 1, 9))
    tab.mouse.move(2, 2)
    assert tab.evaluate("isentropic.active") >= 0
    tab.keyboard.press("Escape")
    assert tab.evaluate("isentropic.active") == -1


def test_arrow_keys_move_from_row_to_row(open_page, address):
    tab = open_page(address)
    tab.locator("canvas.over").nth(1).focus()
    has_size(tab, 1)
    tab.keyboard.press("ArrowRight")
    first = tab.evaluate("isentropic.hovered")
    tab.keyboard.press("ArrowRight")
    second = tab.evaluate("isentropic.hovered")
    px = tab.evaluate("[...isentropic.views[1].px]")
    assert first >= 0
    assert px[second] > px[first]
    assert tab.locator("#tip").is_visible()


def test_keys_on_a_map_that_is_not_drawn_yet_find_no_row(open_page, address):
    tab = open_page(address)
    press = """() => {
      const view = Object.create(isentropic.views[0]);  // of the same place, without a size
      Object.assign(view, new (Object.getPrototypeOf(view.constructor))(isentropic, view.map));
      view.key(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      return [view.nearest(0, 0), isentropic.hovered];
    }"""
    assert tab.evaluate(press) == [-1, -1]


@pytest.mark.parametrize("color", ["false", "tears", "column:2"])
def test_colours_can_be_switched(open_page, address, color):
    tab = open_page(address)
    before = colours(tab, 1)
    legend = tab.locator(".tools .legend").inner_text()
    tab.locator("#color").select_option(color)
    assert colours(tab, 1) != before
    assert tab.locator(".tools .legend").inner_text() != legend
    tab.locator("#color").select_option("class")
    assert colours(tab, 1) == before


def test_the_column_that_was_asked_for_colours_first(open_page, tmp_path, table, runs, verdict):
    tab = open_page(write(tmp_path / "colored.html", table, runs, verdict, color="column 3"))
    assert tab.locator("#color").input_value() == "column:3"
    assert "column 3" in tab.locator(".tools .legend").inner_text()


def test_the_theme_can_be_changed(open_page, address):
    tab = open_page(address, color_scheme="light")
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor"), colours(tab, 1)
    tab.locator("#theme").click()
    after = tab.evaluate("getComputedStyle(document.body).backgroundColor"), colours(tab, 1)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_the_table_sorts_by_any_score(open_page, address, runs):
    tab = open_page(address)
    heads = tab.locator("#scores thead button")
    rows = tab.locator("#scores tbody th")
    for column in range(heads.count()):
        heads.nth(column).click()
        up = [text.strip() for text in rows.all_inner_texts()]
        heads.nth(column).click()
        down = [text.strip() for text in rows.all_inner_texts()]
        assert "broken" in up[-1]
        assert "broken" in down[-1]
    by_time = tab.locator("#scores th[data-key=seconds] button")
    by_time.click()
    assert ["method-0" in rows.nth(0).inner_text(), "method-2" in rows.nth(2).inner_text()] == [True, True]
    by_time.click()
    assert "method-2" in rows.nth(0).inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_groups_of_maps_stay_apart_when_the_table_is_sorted(
    open_page, tmp_path, table, runs, verdict, scheme
):
    supervised = make_supervised(table, runs)
    address = write(tmp_path / "supervised.html", table, supervised, verdict)
    tab = open_page(address, color_scheme=scheme)
    assert tab.heard.complaints == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.locator("figure.map").count() == 4
    head = tab.locator("#scores th[data-key=seconds] button")
    for order in (["method-0", "method-1"], ["method-1", "method-0"]):
        head.click()
        rows = [text.split("\n")[-1].strip() for text in tab.locator("#scores tbody th").all_inner_texts()]
        expected = ["did not see", *order, "saw the classes", "method-2", "broken", "table itself"]
        assert all(name in row for name, row in zip(expected, rows, strict=False)), rows
        assert rows[-3:] == ["k-NN", "QDA", "LDA"]
    ends = tab.evaluate("""[...document.querySelectorAll(".nulls")].every((box) => {
      const paper = box.closest("figure").getBoundingClientRect();
      return [...box.querySelectorAll("span")].every(
        (one) => one.getBoundingClientRect().right <= paper.right + 1); })""")
    assert ends  # nothing runs into the next map


def test_the_rows_of_a_fact_can_be_shown(open_page, address, table):
    tab = open_page(address)
    tab.locator("[data-fact='0']").click()
    assert selected(tab) == set(np.flatnonzero(table.y == 1).tolist())


def test_markup_in_names_never_runs(open_page, tmp_path):
    table = make_table(40, markup=True)
    runs = make_runs(table, 2)
    tab = open_page(write(tmp_path / "markup.html", table, runs, make_verdict(runs, [1, 2, 3, 4])))
    tab.mouse.move(*place(tab, 1, 7))
    assert tab.locator("#tip strong").inner_text().startswith("<script>alert('row")
    assert "<script>alert('class 1')</script>" in tab.locator(".tools .legend").inner_text()
    assert tab.heard.complaints == []


def test_fifty_classes_and_forty_columns_fit_on_a_laptop(open_page, tmp_path):
    table = make_table(200, n_classes=50, m=40)
    runs = make_runs(table, 2)
    tab = open_page(write(tmp_path / "many.html", table, runs, make_verdict(runs)))
    assert tab.heard.complaints == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_failed_runs_alone_open_without_complaint(open_page, tmp_path, runs):
    table = replace(make_table(2), y=None, class_names=())
    verdict = replace(make_verdict([runs[-1]]), recommended=None, shown=None, caveats=())
    tab = open_page(write(tmp_path / "failed.html", table, [runs[-1]], verdict))
    assert tab.heard.complaints == []


def test_nothing_moves_after_it_was_shown(open_page, address):
    tab = open_page(address)
    shifts = """new Promise((done) => { let sum = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; }))
        .observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done(sum), 300); })"""
    assert tab.evaluate(shifts) < 0.01


def test_a_brush_over_nine_maps_paints_only_the_selected_rows(open_page, tmp_path, large_page):
    """All rows are painted twice, in colour and faded, however long the brush moves: that keeps it smooth."""
    path = tmp_path / "large.html"
    path.write_text(large_page, encoding="utf-8")
    tab = open_page(path.as_uri())
    painted = "isentropic.views.map((view) => view.painted)"
    drawn(tab)
    assert tab.evaluate(painted) == [1] * 10
    x, y = place(tab, 1, 0)
    tab.evaluate("""() => { window.stamped = [];
      for (const view of isentropic.views) { const stamp = view.stamp;
      view.stamp = function (order, which, ...rest) {
        window.stamped.push(which ? which.reduce((sum, flag) => sum + flag, 0) : -1);
        return stamp.call(this, order, which, ...rest); }; } }""")
    drag(tab, (x - 80, y - 60), (x + 80, y + 60), steps=20)
    drawn(tab)
    found = len(selected(tab))
    assert 0 < found < 5_000
    assert tab.evaluate(painted) == [2] * 10
    stamped = tab.evaluate("window.stamped")
    assert stamped.count(-1) == 10
    assert max(stamped) == found


def test_a_map_of_all_rows_is_drawn_beside_maps_of_a_sample(open_page, tmp_path):
    """At the top stand all rows; a selection there is one of the compared rows, and found in every map."""
    everything = make_table(n=300)
    rows = np.arange(0, 300, 3)
    table = select_rows(everything, rows)
    runs = [replace(run, rows=rows) for run in make_runs(table)]
    whole = make_runs(everything, 1)[0]
    judged = replace(make_verdict(runs), sampled="Compared on 100 of 300 rows.")
    drawn = collect_page_data(table, runs, judged, full_run=whole, full_table=everything)
    path = tmp_path / "large.html"
    path.write_text(report.page(table, runs, judged, drawn, {**FACTS, "rows": 300}), encoding="utf-8")
    tab = open_page(path.as_uri())
    assert tab.heard.complaints == []
    assert "all 300 rows" in tab.locator("figure.hero figcaption").inner_text()
    seen = tab.evaluate(
        """() => { const [hero, ...maps] = isentropic.views;
        return [hero.others.px.length, hero.px.length, maps.map((view) => view.others), hero.map.run]; }"""
    )
    assert seen == [200, 100, [None] * 3, len(runs)]
    inked = """() => { const view = isentropic.views[0], { width, data } = view.image, ink = (x, y) =>
        { const p = 4 * (Math.floor(y) * width + Math.floor(x)), paper = isentropic.paper;
          return [0, 1, 2].some((c) => data[p + c] !== paper[c]); };
        isentropic.views.forEach((v) => v.draw());
        return [...view.others.px].every((x, i) => ink(x, view.others.py[i])); }"""
    assert tab.evaluate(inked)
    for color in ("column:0", "false"):
        tab.evaluate("(color) => isentropic.setColor(color)", color)
        assert tab.evaluate(inked)
    tab.evaluate("() => isentropic.selectRows([0, 7, 99])")
    assert "3 of 100 rows" in tab.locator("#status").inner_text()
    assert tab.heard.complaints == []
