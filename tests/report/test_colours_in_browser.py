"""Columns of text colour all their levels at once; and what else a reader may press. One tab for all."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from browsing import LAPTOP, READY, Heard, drawn, place, selected
from made_comparisons import FACTS, make_runs, make_table, make_verdict, page

from isentropic import datasets

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser

N = 200
TOWNS = [f"town {i:02d}" for i in range(12)]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    shares = np.r_[np.arange(20, 9, -1), 1] / (np.arange(20, 9, -1).sum() + 1)
    found = pd.DataFrame({
        "area": random.normal(size=N), "heating": random.choice(["oil", "gas", "wood"], N, p=[0.5, 0.3, 0.2]),
        "town": random.choice(TOWNS, N, p=shares), "age": random.normal(size=N),
    })  # fmt: skip
    found.loc[::10, "heating"] = None
    return found


@pytest.fixture(scope="module")
def html(frame):
    table = datasets.load(frame, missing="mean")
    runs = make_runs(table, 12, quality=make_runs(make_table(N), 1)[0].quality)
    verdict = make_verdict(runs, range(8))
    return page(table, runs, verdict, FACTS)


@pytest.fixture(scope="module")
def opened(browser, html, tmp_path_factory):
    path = tmp_path_factory.mktemp("colours") / "made.html"
    path.write_text(html, encoding="utf-8")
    tab = browser.new_page(viewport=LAPTOP)
    tab.heard = Heard(tab)
    tab.goto(path.as_uri())
    tab.wait_for_function(READY)
    yield tab
    assert tab.heard.complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in tab.heard.requests)
    tab.close()


@pytest.fixture
def tab(opened):
    """As it was opened: nothing selected, the first column in colour."""
    opened.keyboard.press("Escape")
    opened.select_option("#color", label="area")
    return opened


def legend(tab):
    return tab.locator(".tools .legend button")


def told(tab):
    """For each row what the legend calls it."""
    return tab.evaluate(
        "(({ levels, codes }) => [...codes()].map((code) => levels()[code].name))(isentropic.way)"
    )


def test_a_column_of_text_is_one_column_of_the_list(tab):
    offered = tab.locator('#color optgroup[label="Columns"] option').all_inner_texts()
    assert offered == ["area", "heating", "town", "age"]


def test_every_level_has_its_colour_and_holes_a_pale_one(tab, frame):
    tab.select_option("#color", label="heating")
    expected = frame["heating"].fillna("missing")
    assert told(tab) == expected.tolist()
    counts = frame["heating"].value_counts()
    assert legend(tab).all_inner_texts() == [*counts.index, "missing"]  # the most frequent first
    assert f"{counts.iloc[0]} rows" in legend(tab).nth(0).get_attribute("title")
    colors = tab.evaluate("[...isentropic.coloring(isentropic.data.maps[0]).colors]")
    light = tab.evaluate(
        "isentropic.data.palette.classes.light.slice(0, 3).flatMap((hex) => isentropic.rgb(hex))"
    )
    assert colors[:9] == light
    assert colors[9:] == tab.evaluate("isentropic.rgb(isentropic.css('--line'))")
    assert tab.locator(".tools .legend").inner_text().startswith("heating:")


def test_the_rarest_of_many_levels_share_a_grey_that_no_other_level_has(tab, frame):
    tab.select_option("#color", label="town")
    counts = frame["town"].value_counts()
    names = legend(tab).all_inner_texts()
    assert len(names) == 8
    assert names[-1] == f"{len(counts) - 7} other levels"
    assert [counts[name] for name in names[:-1]] == counts.iloc[:7].tolist()
    rest = N - counts[names[:-1]].sum()
    assert f": {rest} rows." in legend(tab).nth(7).get_attribute("title")
    assert told(tab) == [name if name in names else names[-1] for name in frame["town"]]
    script = "isentropic.way.levels().map(({ hue }) => hue)"
    assert tab.evaluate(script) == [0, 1, 2, 3, 4, 5, 7, "--grey"]  # without the neutral colour, 6


@pytest.mark.parametrize("dark", [False, True])
def test_one_click_isolates_a_level_and_the_next_lets_it_go(tab, frame, dark):
    if dark:
        tab.locator("#theme").click()
    tab.select_option("#color", label="heating")
    legend(tab).nth(1).focus()
    tab.keyboard.press("Enter")
    assert selected(tab) == set(np.flatnonzero(frame["heating"] == "gas").tolist())
    assert [one.get_attribute("aria-pressed") for one in legend(tab).all()] == [
        "false",
        "true",
        "false",
        "false",
    ]
    tab.keyboard.press("Enter")
    assert selected(tab) == set()
    assert legend(tab).nth(1).get_attribute("aria-pressed") == "false"
    if dark:
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
        tab.locator("#theme").click()
    drawn(tab)
    assert tab.evaluate(
        "isentropic.views.filter((v) => v.width).every((v) => v.image.data[0] === isentropic.paper[0])"
    )


def test_the_row_under_the_pointer_says_its_level(tab, frame):
    tab.select_option("#color", label="heating")
    for row in (int(np.flatnonzero(frame["heating"] == "wood")[0]), 10):  # the second has none
        x, y = place(tab, 1, row)
        tab.mouse.move(x, y)
        found = tab.evaluate("isentropic.hovered")
        level = frame["heating"].fillna("missing")[found]
        assert f"heating: {level}" in tab.locator("#tip").inner_text()
    tab.mouse.move(2, 2)


def test_a_saved_map_names_the_levels(tab, tmp_path):
    tab.select_option("#color", label="heating")
    with tab.expect_download() as download:
        tab.locator(".multiples figure").first.locator(".save button:text('SVG')").click(force=True)
    words = [text.text for text in ElementTree.parse(download.value.path()).getroot().iter(f"{SVG}text")]
    assert words[2:] == ["heating:", *legend(tab).all_inner_texts()]


# ---- what else answers -------------------------------------------------------------------------


def test_the_verdict_stays_when_the_other_maps_are_folded_again(tab):
    verdict = tab.locator("#verdict").inner_text()
    for _ in range(2):
        tab.locator("#all").click()
    assert tab.locator("#verdict").inner_text() == verdict


def test_a_button_clears_what_is_selected(tab):
    assert tab.locator("#clear").is_hidden()
    tab.locator("[data-fact='0']").click()
    assert selected(tab) == set(range(8))
    tab.locator("#clear").click()
    assert selected(tab) == set()


def test_a_gesture_that_is_cancelled_leaves_no_brush(tab):
    x, y = place(tab, 1, 3)
    script = """([x, y]) => { const { over } = isentropic.views[1];
      over.setPointerCapture = () => {};
      for (const [kind, dx] of [["down", 0], ["move", 30], ["cancel", 30]])
        over.dispatchEvent(new PointerEvent("pointer" + kind, { clientX: x + dx, clientY: y + dx }));
      return isentropic.views[1].brush; }"""
    assert tab.evaluate(script, [x, y]) is None
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert selected(tab) == set()


def test_a_chart_is_read_where_the_pointer_is(tab):
    chart = tab.locator("#curves svg[role=img]").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    heads = tab.locator("#curves h4").all_inner_texts()
    tab.mouse.move(box["x"] + 40, box["y"] + 60)
    read = "() => [...document.querySelectorAll('#curves h4')].every((h) => h.innerText.includes('at k = 1'))"
    tab.wait_for_function(read)
    tab.locator("#curves .ranking li").nth(2).hover()
    # one in each chart; a busy machine hears of the pointer later
    tab.wait_for_function("() => document.querySelectorAll('#curves .curve.focus').length === 4")
    tab.mouse.move(2, 2)
    tab.wait_for_function("() => !document.querySelector('#curves .focus')")
    assert tab.locator("#curves h4").all_inner_texts() == heads


def test_another_width_and_another_scheme_draw_anew(tab):
    width = tab.evaluate("isentropic.views[1].width")
    tab.set_viewport_size({"width": 1100, "height": 768})
    drawn(tab)
    assert tab.evaluate("isentropic.views[1].width") < width
    tab.set_viewport_size(LAPTOP)
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    tab.emulate_media(color_scheme="light")
    drawn(tab)
    assert tab.evaluate("isentropic.views[1].width") == width


def test_paper_is_light_and_has_every_map(tab):
    tab.locator("#theme").click()
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    assert not tab.evaluate("isentropic.views.some((view) => view.stale)")  # at once: a printer does not wait
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.locator("#theme").click()
