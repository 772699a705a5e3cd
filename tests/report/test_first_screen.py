"""The first screen and what stands below it, as text: grades, bars, the trade-off, columns and the notice."""

import re
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from made_comparisons import FACTS, make_grades, make_runs, make_table, make_verdict, page, with_value
from test_page_text import data_of, decoded, visible

from isentropic._core.errors import InvalidInputError
from isentropic._core.values import Table
from isentropic.comparison.explain.source_columns import columns_of
from isentropic.report.collect import first_screen
from isentropic.report.payload.page_columns import code_columns, pack_columns

pytest.importorskip("jinja2")

COLUMNS = [
    {
        "name": "column 0", "role": "feature", "why": "numbers", "kind": "number", "missing": 3,
        "change": "standardised", "share": 0.6, "command": "--label 'column 0'",
    },
    {
        "name": "town <b>", "role": "label", "why": "text with 40 levels", "kind": "text", "missing": 0,
        "change": "", "share": None, "command": "--features 'town <b>'",
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def html(table, runs, verdict):
    return page(table, runs, verdict, {**FACTS, "columns": COLUMNS})


# ---- answer ------------------------------------------------------------------------------------


def test_all_of_the_answer_is_in_the_html_without_a_script(html, verdict):
    text = visible(re.search(r'<section id="verdict".*?</section>', html, re.S)[0])
    rating = verdict.ratings[0]
    said = [verdict.use, verdict.caution, verdict.groups.sentence, *verdict.shows, *verdict.choice]
    said += [grade.sentence for grade in (rating.neighbors, rating.distances)]
    said += [caveat.text for caveat in verdict.caveats]
    assert [sentence for sentence in said if sentence not in text] == []
    assert re.search("Which rows are alike Good", text)
    assert re.search("How far apart things are Poor", text)
    assert re.search("Are there groups Yes", text)


def test_the_first_screen_has_no_measure_of_experts(html):
    first = visible(re.search(r'<div class="first">.*?<section id="evidence"', html, re.S)[0])
    assert not re.search(r"R\s?_?NX|\btau\b|\bT\(10\)|\bC\(10\)", first)
    assert "R NX (10)" in visible(html)  # but among all measures


def test_a_bar_has_one_place_for_chance_and_one_for_the_map(html, verdict):
    grade = verdict.ratings[0].neighbors
    bar = first_screen.bar(grade)
    assert bar == {"chance": 5.0, "value": 90.0}
    assert html.count(f"--chance:{bar['chance']}%;--value:{bar['value']}%") == 2  # large, and below its map
    assert first_screen.bar(replace(grade, value=0.01)) == {"chance": 5.0, "value": 5.0}


def test_at_most_three_caveats(table, runs, verdict):
    many = replace(verdict, caveats=tuple(replace(verdict.caveats[1], text=f"Fact {i}.") for i in range(5)))
    text = visible(page(table, runs, many, {}))
    assert [f"Fact {i}." in text for i in range(5)] == [True] * 3 + [False] * 2


def test_groups_that_the_answer_denies_are_not_listed(table, runs, verdict):
    denied = replace(verdict, groups=replace(verdict.groups, level="no", sentence="No groups."))
    assert data_of(page(table, runs, verdict, {}))["groups"]
    data = data_of(page(table, runs, denied, {}))
    assert (data["groups"], data["group_answer"], data["named_groups"]) == ([], "No groups.", False)


def test_every_map_is_a_dot_and_no_two_names_meet():
    table = make_table(30)
    runs = make_runs(table, 9, quality=make_runs(table, 1)[0].quality)
    made = make_verdict(runs)
    ratings = [
        replace(rating, distances=with_value(rating.distances, 0.55 + 0.1 * (rating.run % 4)))
        for rating in made.ratings[:-1]
    ]
    dots = first_screen.tradeoff(runs, replace(made, ratings=(*ratings, made.ratings[-1])))
    assert [dot.run for dot in dots if dot.shown] == [0]
    assert dots[-1].shown  # on top
    assert sorted(dot.run for dot in dots) == list(range(9))  # the failed one has none
    heights = [dot.y for dot in sorted(dots, key=lambda dot: dot.run)]
    assert heights == sorted(heights)  # fewer neighbours, further down
    boxes = []
    for dot in dots:
        if dot.label:
            x, y, anchor = dot.label
            wide = 7.0 * len(dot.title)
            left = x - {"start": 0, "end": wide, "middle": wide / 2}[anchor]
            boxes.append((left, y - 9, left + wide, y + 1))
    assert len(boxes) >= 5
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_maps_of_one_name_are_told_apart(table, runs, verdict):
    twins = [replace(run, method="t-sne") for run in runs[:2]]
    ratings = tuple(replace(rating, title="t-SNE") for rating in verdict.ratings[:2])
    found = first_screen.titles(twins, replace(verdict, ratings=ratings))
    assert found == ["t-SNE (n_neighbors=5)", "t-SNE (n_neighbors=6)"]


@pytest.mark.parametrize(
    ("m", "expected"),
    [
        (1, "column 0 decides the places; the target was not used."),
        (3, "column 0, column 1 and column 2 decide the places; the target was not used."),
        (8, "8 columns decide the places; the target was not used."),
    ],
)
def test_a_sentence_says_what_a_point_is(m, expected):
    sentence = first_screen.point_sentence(make_table(1200, m=m), {})
    assert sentence == f"Each point is one of 1,200 rows. {expected}"


def test_the_sentence_takes_roles_from_the_table_of_columns(table):
    sentence = first_screen.point_sentence(table, {"columns": COLUMNS, "rows": 5000}, has_copies=True)
    assert sentence == (
        "Each point is one of 120 different rows. column 0 decides the places; town <b> was not used. "
        "Larger points stand for several identical rows."
    )


# ---- details -----------------------------------------------------------------------------------


def test_columns_stand_in_a_table_with_a_command_each(html, table, runs, verdict):
    section = re.search(r'<section id="columns".*?</section>', html, re.S)[0]
    rows = [visible(row).split() for row in re.findall(r'<tr class=".*?</tr>', section, re.S)]
    assert " ".join(rows[0]) == "column 0 feature numbers number 3 standardised 60% --label 'column 0' Copy"
    assert rows[1][:3] == ["town", "<b>", "label"]
    assert 'data-copy="--label &#39;column 0&#39;"' in section
    assert 'id="columns"' not in page(table, runs, verdict, {})


def test_the_page_says_what_it_contains(html, table, runs, verdict):
    assert "This file contains 120 rows and 5 columns of the table. Send it only to" in visible(html)


# ---- columns that are no features --------------------------------------------------------------


class WiderTable(Table):
    """A table that may have columns of its source that are no features."""


def with_columns(table, frame):
    names = [field.name for field in fields(table)]
    found = WiderTable(**{name: getattr(table, name) for name in names})
    object.__setattr__(found, "other_columns", frame)
    return found


def test_columns_that_are_no_features_can_colour(table):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "town": random.choice(["a", "b"], 120), "id": [f"row {i}" for i in range(120)],
        "when": pd.date_range("2020-01-01", periods=120), "pay": np.arange(120.0),
    })  # fmt: skip
    numbers = replace(table, y=np.linspace(0, 1, 120), class_names=())
    given = pack_columns(*code_columns(with_columns(numbers, frame), np.arange(120)))
    names = [one["name"] for one in given["columns"] if one.get("other")]
    assert names == ["target", "town", "when", "pay"]  # what names the rows is no colour
    assert [bool(one.get("dates")) for one in given["columns"][-3:]] == [False, True, False]
    assert decoded(given["columns"][-3]) == frame["town"].tolist()


def test_rows_without_a_class_are_a_class_of_their_own(table, runs, verdict):
    y = table.y.copy()
    y[:7] = -1
    classes = data_of(page(replace(table, y=y), runs, verdict, {}))["rows"]["classes"]
    assert (classes["names"][-1], classes["counts"][-1]) == ("no class", 7)


def test_other_rows_have_the_codes_of_the_nearest_known_values(table):
    some = np.arange(0, 120, 2)
    coded, _ = code_columns(table, some)
    for one, column in zip(coded, columns_of(table), strict=True):
        np.testing.assert_array_equal(one.codes_of(column)[some], one.codes)
        found = one.values[one.codes_of(column)]
        nearest = one.values[np.abs(column.values[:, None] - one.values).argmin(axis=1)]
        np.testing.assert_array_equal(found, nearest)


# ---- identical rows and near neighbours --------------------------------------------------------


def test_copies_are_in_the_data_and_must_fit(table, runs, verdict):
    copies = np.ones(120, int)
    assert data_of(page(table, runs, verdict, {}, copies=copies))["copies"] is None
    copies[5] = 14
    html = page(table, runs, verdict, {}, copies=copies)
    assert data_of(html)["copies"] is not None
    assert "Larger points stand for several identical rows." in visible(html)
    with pytest.raises(InvalidInputError, match="one count for each row"):
        page(table, runs, verdict, {}, copies=copies[:50])


def test_grades_are_those_that_a_map_has():
    rating = replace(make_verdict(make_runs(make_table(12), 1)).ratings[0], neighbors=None)
    assert [grade.question for grade in first_screen.grades(rating)] == ["distances"]
    assert first_screen.grades(None) == []
    assert [grade.level for grade in make_grades(0)] == ["good", "poor"]
