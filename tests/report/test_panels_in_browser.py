"""The distance overlay, two maps and saved panels in a real browser, held against what Python finds."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from browsing import place
from made_comparisons import FACTS, make_runs, make_table, make_verdict, page
from scipy.spatial.distance import cdist

from isentropic.comparison import page_data
from isentropic.quality import map_agreement

pytest.importorskip("jinja2")
pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def address(tmp_path_factory, table, runs, verdict):
    path = tmp_path_factory.mktemp("panels") / "made.html"
    path.write_text(page(table, runs, verdict, FACTS), encoding="utf-8")
    return path.as_uri()


def until(tab, wanted):
    """Wait for it without evaluating text in the page, which its policy forbids."""
    tab.evaluate(
        f"new Promise((done) => {{ const look = () => ({wanted}) ? done() : setTimeout(look, 20); look(); }})"
    )


def click(tab, figure, row):
    tab.mouse.click(*place(tab, figure, row))


# ---- the distance overlay ----------------------------------------------------------------------


def test_a_held_row_shows_its_true_distances(open_page, address, table):
    tab = open_page(address)
    click(tab, 1, 5)
    row = tab.evaluate("isentropic.pinned")
    assert row >= 0
    assert tab.locator("#color").input_value() == "overlay"
    distances = np.array(
        tab.evaluate("[...isentropic.overlay.steps].map((step) => step * isentropic.overlay.unit)")
    )
    truth = cdist(table.X[[row]], table.X)[0]
    assert np.abs(distances - truth).max() <= tab.evaluate("isentropic.overlay.error") * (1 + 1e-5)
    assert tab.evaluate("isentropic.overlay.error") == pytest.approx(cdist(table.X, table.X).max() / 508)
    codes = np.array(tab.evaluate("[...isentropic.coloring(isentropic.data.maps[0]).codes]"))
    assert codes[row] == 0
    assert codes[np.argmax(truth)] == 254
    assert np.corrcoef(codes, truth)[0, 1] > 0.999
    order = tab.evaluate("[...isentropic.coloring(isentropic.data.maps[0]).order]")
    assert sorted(order) == list(range(len(truth)))
    assert (np.diff(codes[order]) <= 0).all()  # the nearest on top
    assert f"Distance to {table.row_names[row]} in the data:" in tab.locator(".tools .legend").inner_text()
    assert "exact to" in tab.locator("#overlay").inner_text()


def test_escape_lets_go_and_gives_the_colours_back(open_page, address):
    tab = open_page(address)
    tab.locator("#color").select_option("column:2")
    tab.locator("canvas.over").nth(1).focus()
    until(tab, "isentropic.views[1].px.length > 0")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert tab.evaluate("isentropic.color") == "overlay"
    tab.keyboard.press("Escape")
    assert tab.evaluate("isentropic.color") == "column:2"
    assert tab.locator("#color option[value=overlay]").count() == 0
    assert tab.locator("#overlay").is_hidden()
    tab.evaluate("isentropic.pin(3)")
    tab.evaluate("isentropic.pin(4)")  # from one row to the next
    tab.locator("#overlay button").click()
    assert tab.evaluate("isentropic.color") == "column:2"


def test_of_many_rows_distances_are_estimated_and_the_page_says_so(open_page, tmp_path, monkeypatch):
    monkeypatch.setattr(page_data, "EXACT_ROWS", 50)
    table = make_table(150)
    runs = make_runs(table, 1)
    path = tmp_path / "landmarks.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    tab.evaluate("isentropic.pin(9)")
    found = np.array(
        tab.evaluate("[...isentropic.overlay.steps].map((step) => step * isentropic.overlay.unit)")
    )
    truth = cdist(table.X[[9]], table.X)[0]
    error = tab.evaluate("isentropic.overlay.error")
    assert np.abs(found - truth).mean() <= error
    assert found[9] == 0.0
    assert "estimated through 150 rows drawn as landmarks" in tab.locator("#overlay").inner_text()
    assert "estimated" in tab.locator(".tools .legend").inner_text()


# ---- two maps ----------------------------------------------------------------------------------


def compared(tab, second=1):
    tab.locator("#pair select").nth(1).select_option(str(second))
    until(tab, "isentropic.pair.result")
    return tab.evaluate("""() => { const { shared, correlation, mean, groups } = isentropic.pair.result;
      return { shared: [...shared], correlation, mean,
        groups: groups.map(({ name, share, rows }) => [name, rows.length, share]) }; }""")


def test_agreement_is_that_of_python(open_page, address, runs, table):
    tab = open_page(address)
    found = compared(tab)
    truth = map_agreement(runs[0].embedding, runs[1].embedding)
    shares = np.array(found["shared"]) / truth.n_neighbors
    assert (shares == truth.shares).mean() > 0.98  # coordinates of the page have 65,535 steps
    assert found["mean"] == pytest.approx(truth.mean, abs=0.002)
    assert found["correlation"] == pytest.approx(truth.correlation, abs=1e-4)
    groups = truth.by_group(table.labels)
    assert [name for name, _, _ in found["groups"]] == [group.name for group in groups]
    assert [n for _, n, _ in found["groups"]] == [group.n_rows for group in groups]
    np.testing.assert_allclose([s for *_, s in found["groups"]], [g.share for g in groups], atol=0.01)


def test_neighbours_of_the_page_are_the_nearest_by_distance_and_number(open_page, tmp_path):
    """With ties and rows at one place, against every distance."""
    table = make_table(400)
    runs = make_runs(table, 2)
    crowded = np.round(runs[0].embedding)  # few places
    runs = [replace(runs[0], embedding=crowded), *runs[1:]]
    path = tmp_path / "ties.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    compared(tab)
    for run in (0, 1):
        script = """(m) => [[...isentropic.points(isentropic.data.maps[m])],
          [...isentropic.decoded.get(`near${m}`)]]"""
        points, near = map(np.array, tab.evaluate(script, run))
        D = cdist(points.reshape(-1, 2), points.reshape(-1, 2), "sqeuclidean")
        np.fill_diagonal(D, np.inf)
        truth = np.argsort(D, axis=1, kind="stable")[:, :10]
        np.testing.assert_array_equal(near.reshape(-1, 10), truth)


def test_one_map_is_laid_onto_the_other(open_page, tmp_path):
    """A map that was turned, mirrored and sized comes back to itself."""
    table = make_table(200)
    one, *others = make_runs(table, 2)
    turned = 3.0 * one.embedding @ np.array([[0.6, 0.8], [0.8, -0.6]]) + 5.0
    runs = [one, replace(others[0], embedding=turned), *others[1:]]
    path = tmp_path / "turned.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    found = compared(tab)
    assert found["correlation"] == pytest.approx(1.0, abs=1e-6)
    assert found["mean"] > 0.99
    moved = tab.evaluate("""() => { const a = isentropic.points(isentropic.data.maps[0]);
      return Math.max(...isentropic.pair.result.places.map((v, i) => Math.abs(v - a[i]))); }""")
    assert moved < 5  # of 65,535


def test_the_morph_moves_and_the_groups_can_be_selected(open_page, address):
    tab = open_page(address)
    compared(tab)
    drawn = "isentropic.pair.canvas.toDataURL()"
    tab.locator("#pair").scroll_into_view_if_needed()
    first = tab.evaluate(drawn)
    tab.evaluate("""() => { const { slider } = isentropic.pair;
      slider.value = 60; slider.dispatchEvent(new Event('input')); }""")
    assert tab.evaluate(drawn) != first
    assert tab.evaluate("isentropic.pair.time") == 0.6
    tab.locator("#pair .morph button").click()
    until(tab, "isentropic.pair.time === 0 && !isentropic.pair.frame")
    assert tab.evaluate(drawn) == first
    tab.locator("#pair li button").first.click()
    assert tab.evaluate("isentropic.nSelected") == 40
    assert tab.evaluate(drawn) != first
    tab.locator("#pair select").nth(1).select_option("none")
    assert tab.evaluate("isentropic.color") == "class"
    assert tab.locator("#pair canvas").count() == 0


def test_less_motion_is_respected(open_page, address):
    tab = open_page(address, reduced_motion="reduce")
    compared(tab)
    tab.locator("#pair .morph button").click()
    assert tab.evaluate("[isentropic.pair.time, isentropic.pair.frame || 0]") == [1, 0]


# ---- files -------------------------------------------------------------------------------------


def saved(tab, panel, kind, tmp_path):
    with tab.expect_download() as download:
        tab.locator(panel).first.locator(f".save button:text('{kind}')").click(force=True)
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_is_saved_with_every_point_on_white(open_page, address, tmp_path, table, scheme):
    from matplotlib.image import imread

    tab = open_page(address, color_scheme=scheme)
    path = saved(tab, ".multiples figure", "SVG", tmp_path)
    assert path.name == "made-method-0.svg"
    drawing = ElementTree.parse(path).getroot()
    assert drawing.find(f"{SVG}rect").get("fill") == "#ffffff"
    assert len(drawing.findall(f"{SVG}g/{SVG}circle")) == len(table.X)
    words = [text.text for text in drawing.iter(f"{SVG}text")]
    assert words[:2] == ["made: method-0", "120 rows"]
    assert set(table.class_names) <= set(words)
    fills = {circle.get("fill") for circle in drawing.findall(f"{SVG}g/{SVG}circle")}
    assert fills == {"#0072b2", "#e69f00", "#009e73"}
    image = imread(saved(tab, ".multiples figure", "PNG", tmp_path))
    assert image.shape[1] == 1440
    assert (image[0, 0, :3] == 1).all()
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme


def test_a_map_by_numbers_has_a_ramp_and_faded_rows(open_page, address, tmp_path):
    tab = open_page(address)
    tab.evaluate("isentropic.setColor('tears')")
    tab.evaluate("isentropic.selectRows([1, 2, 3])")
    drawing = ElementTree.parse(saved(tab, ".multiples figure", "SVG", tmp_path)).getroot()
    assert drawing.find(f"{SVG}defs/{SVG}linearGradient") is not None
    words = [text.text for text in drawing.iter(f"{SVG}text")]
    assert "120 rows, 3 selected" in words
    assert any(word.startswith("Tears") for word in words)


def test_many_points_are_one_picture_and_the_file_says_so(open_page, address, tmp_path):
    tab = open_page(address)
    tab.evaluate("isentropic.saver.mostCircles = 50")
    drawing = ElementTree.parse(saved(tab, ".multiples figure", "SVG", tmp_path)).getroot()
    (image,) = drawing.iter(f"{SVG}image")
    assert image.get("href").startswith("data:image/png;base64,")
    assert "120 rows, drawn as a picture" in [text.text for text in drawing.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("panel", "name", "shape"),
    [
        ("#curves > div", "made-Near-neighbours-close-in-the-data-too", "path"),
        ("#pictures > div", "made-method-0-ranks-and-distances", "rect"),
        ("#trials > div", "made-method-0-parameters", "circle"),
    ],
)
def test_charts_are_saved_as_shapes(open_page, address, tmp_path, panel, name, shape):
    tab = open_page(address, color_scheme="dark")
    path = saved(tab, panel, "SVG", tmp_path)
    assert path.name == f"{name}.svg"
    drawing = ElementTree.parse(path).getroot()
    assert len(list(drawing.iter(f"{SVG}{shape}"))) >= 2
    assert "var(" not in path.read_text(encoding="utf-8")  # styles are written out
    assert "made" in [text.text for text in drawing.iter(f"{SVG}text")]
    assert saved(tab, panel, "PNG", tmp_path).read_bytes()[:4] == b"\x89PNG"


def test_names_with_markup_are_saved_as_text(open_page, tmp_path):
    table = make_table(markup=True)
    runs = make_runs(table, 1)
    path = tmp_path / "markup.html"
    path.write_text(page(table, runs, make_verdict(runs), FACTS), encoding="utf-8")
    tab = open_page(path.as_uri())
    found = saved(tab, ".multiples figure", "SVG", tmp_path)
    assert found.name == "script-alert-made-script-method-0.svg"
    words = [text.text for text in ElementTree.parse(found).getroot().iter(f"{SVG}text")]
    assert words[0] == "<script>alert('made')</script>: method-0"


def test_names_that_xml_does_not_know_are_saved_well_formed(open_page, tmp_path):
    """Control characters, halves of characters and the two code points that are none."""
    odd = "a\x00\x01\x0b\x1b\ud800\ufffe\uffffb"
    plain = make_table()
    table = replace(plain, name=odd, class_names=tuple(odd + name for name in plain.class_names))
    runs = [replace(run, method=odd) for run in make_runs(table, 1)]
    path = tmp_path / "odd.html"
    path.write_bytes(page(table, runs, make_verdict(runs), FACTS).encode(errors="backslashreplace"))
    tab = open_page(path.as_uri())
    tab.evaluate("isentropic.data.table += '\\ud800\\uffff'")  # as a name may come from another script
    for panel in (".multiples figure", "#curves > div", "#pictures > div"):
        words = [
            text.text for text in ElementTree.parse(saved(tab, panel, "SVG", tmp_path)).iter(f"{SVG}text")
        ]
        assert any("\ufffd" in (word or "") for word in words)
        assert saved(tab, panel, "PNG", tmp_path).read_bytes()[:4] == b"\x89PNG"
