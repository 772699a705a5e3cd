"""Row by row: what speaks against the place of a row is in the data of the page, and colours its maps."""

import json
import re
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest
from browsing import drawn
from made_comparisons import FACTS, page

from isentropic.comparison import RowDiagnostics

pytest.importorskip("jinja2")
KINDS = ["doubt", "jump", "seeds", "agreed"]


@pytest.fixture(scope="module")
def trusting(runs):
    """The first map has been tested in every way, the second by p alone, the others by nothing."""
    n = len(runs[0].quality.rows)
    shares = np.linspace(0, 1, n)
    walked, jumps = np.arange(0, n, 2), np.linspace(0, 5, len(np.arange(0, n, 2)))
    first = RowDiagnostics(shares, 0.1, walked, jumps, shares[::-1].copy())
    tested = [
        replace(runs[0], row_diagnostics=first),
        replace(runs[1], row_diagnostics=RowDiagnostics(shares, 0.1)),
    ]
    return [*tested, *runs[2:]]


@pytest.fixture(scope="module")
def html(table, trusting, verdict):
    return page(table, trusting, verdict, FACTS)


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])


def codes(entry):
    return np.frombuffer(b64decode(entry["values"]), np.uint8)


def test_every_score_that_a_map_has_is_packed(html):
    data = data_of(html)
    assert [kind["kind"] for kind in data["kinds"]] == KINDS
    first, second, third = data["maps"][:3]
    assert all(kind in first for kind in (*KINDS[:3], "false", "tears"))
    assert set(KINDS) & set(second) == {"doubt"}
    assert set(KINDS) & set(third) == set()
    np.testing.assert_array_equal(codes(first["doubt"]), np.rint(254 * np.linspace(0, 1, 120)))
    assert (codes(first["jump"])[1::2] == 255).all()  # not walked
    assert codes(first["jump"])[118] == 254
    assert len(np.unique(codes(data["kinds"][3]["all"]))) > 2  # one of all maps
    assert [kind["all"] for kind in data["kinds"][:3]] == [None] * 3


def test_the_legend_says_how_many_rows_are_placed_by_chance(html):
    words = {kind["kind"]: kind["text"] for kind in data_of(html)["kinds"]}
    assert words["doubt"].endswith("about 10% of the rows of method-0 are placed no better than by chance:")
    assert words["jump"].endswith("method-0 jumps at 70% of 60 rows:")
    assert " pairs have each other on all 3:" in words["agreed"]


def test_nothing_is_offered_that_nothing_is_known_of(table, runs, verdict):
    alone = replace(verdict, ratings=tuple(replace(one, usable=False) for one in verdict.ratings))
    assert data_of(page(table, runs, alone, {}))["kinds"] == []


@pytest.mark.browser
def test_the_maps_are_coloured_by_each_and_say_what_it_means(html, open_page, tmp_path):
    path = tmp_path / "rows.html"
    path.write_text(html, encoding="utf-8")
    tab = open_page(path.as_uri())
    offered = tab.locator('#color optgroup[label="Row by row"] option').evaluate_all(
        "(all) => all.map((o) => o.value)"
    )
    assert offered == KINDS
    pictures = set()
    for kind in KINDS:
        tab.select_option("#color", kind)
        legend = tab.locator(".legend").first.inner_text()
        words = next(one["text"] for one in data_of(html)["kinds"] if one["kind"] == kind)
        assert words in legend
        drawn(tab)
        pictures.add(tab.evaluate("document.querySelector('figure.map canvas').toDataURL()"))
    assert len(pictures) == len(KINDS)
    tip = tab.evaluate("isentropic.ways.get('jump').tip(118, isentropic.data.maps[0])")
    assert tip == "jumps: ≥ 4.90"
    assert tab.evaluate("isentropic.ways.get('jump').tip(0, isentropic.data.maps[1])") == ""
