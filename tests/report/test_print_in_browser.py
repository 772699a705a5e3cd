"""The page on paper: every map is there, in light colours, with its tables, and without buttons."""

import re
import zlib

import numpy as np
import pytest
from made_comparisons import FACTS, make_runs, make_table, make_verdict, page

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser

N_MAPS = 11  # more than are shown at once


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    table = make_table(90)
    runs = make_runs(table, N_MAPS, quality=make_runs(table, 1)[0].quality)
    path = tmp_path_factory.mktemp("print") / "made.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    return path.as_uri()


def pictures(pdf):
    """Pixels of the pictures in a file by Chromium, one row for each pixel."""
    found = []
    pattern = rb"/Subtype /Image\n(.*?)stream\r?\n(.*?)\r?\nendstream"
    for head, stream in re.findall(pattern, pdf, re.S):
        if b"/DeviceGray" not in head and b"/FlateDecode" in head:
            found.append(np.frombuffer(zlib.decompress(stream), np.uint8).reshape(-1, 3))
    return found


def test_who_prints_before_the_page_has_opened_has_every_map(browser, address):
    """As ``chromium --print-to-pdf`` may: the document is there, and no map has been drawn."""
    tab = browser.new_page()
    tab.add_init_script("""window.setTimeout = () => 0; // what waits for a later moment never comes
      addEventListener("DOMContentLoaded", () => {
      window.early = !window.isentropic;
      dispatchEvent(new Event("beforeprint"));
      window.drawn = window.isentropic?.views.map((view) => view.painted); });""")
    tab.goto(address)
    assert tab.evaluate("window.early")
    drawn = tab.evaluate("window.drawn")
    assert len(drawn) == N_MAPS + 1
    assert all(drawn)
    tab.close()


def test_a_printed_page_has_the_points_of_every_map(browser, address):
    tab = browser.new_page(color_scheme="dark")
    tab.goto(address)
    maps = pictures(tab.pdf(print_background=True))
    tab.close()
    blue = np.array([0x00, 0x72, 0xB2], np.int16)  # of the first class
    full = [one for one in maps if (np.abs(one[::7].astype(np.int16) - blue).max(axis=1) < 30).sum() > 20]
    assert len(full) >= N_MAPS + 1  # each map, and the recommended one large
    assert all((one[0] == 255).all() for one in full)  # paper is white


def test_nothing_lies_over_the_points_on_paper(open_page, address):
    """A canvas is printed by repeating what was drawn on it: clearing the upper one clears the points."""
    tab = open_page(address)
    tab.evaluate("""() => { window.cleared = 0; const { clearRect } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        window.cleared++; return clearRect.apply(this, box); };
      dispatchEvent(new Event("beforeprint")); }""")
    assert tab.evaluate("window.cleared") == 0
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.evaluate("isentropic.drawOver()")
    assert tab.evaluate("window.cleared") > 0


def test_paper_has_every_table_and_no_button(open_page, address):
    tab = open_page(address, color_scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    tab.set_viewport_size({"width": 700, "height": 900})  # as wide as paper: no rule of a phone holds
    assert tab.evaluate("getComputedStyle(document.querySelector('.multiples')).overflowX") == "visible"
    seen = "[...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).length"
    assert tab.evaluate(seen.format("figure.map")) == N_MAPS + 1
    assert tab.evaluate(seen.format("figure.map canvas")) == 2 * (N_MAPS + 1)
    assert tab.evaluate(seen.format("table")) == tab.evaluate("document.querySelectorAll('table').length")
    assert tab.evaluate(seen.format("button:not(.legend button, thead button), select")) == 0
    ratios = tab.evaluate(
        "isentropic.views.map((view) => view.width / view.over.getBoundingClientRect().width)"
    )
    np.testing.assert_allclose(ratios, 3, rtol=0.02)  # pixels of a map to one of the style sheet
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.emulate_media(media="screen", color_scheme="dark")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.evaluate("document.querySelectorAll('details[open]').length") == 0
    assert tab.evaluate("isentropic.views.filter((view) => view.over.offsetParent).length") == 9
