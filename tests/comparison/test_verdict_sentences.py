"""A verdict's sentences agree with the numbers beside them, whatever the numbers are."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_runs import EFFECT, FAILED, REAL, measured_run, planted_run

from isentropic import compare, datasets
from isentropic.comparison import verdict
from isentropic.comparison.bars import GLOBAL_BAR, local_bar
from isentropic.comparison.rivals import best_first, recommended_for, told_apart
from isentropic.comparison.words import in_plain_words

SMALL, LARGE = 60, 420  # rows; only of many are there coarse neighbourhoods
MEASURED = re.compile(r"R_NX|\btau\b|\b[TC]\(\d")  # what nobody needs to know to read the first sentence
NUMBER = r"-?\d\.\d+"


def assert_agrees(runs, found):
    """No map is called worse than one that keeps less of the same, and no words gainsay their numbers."""
    bar = local_bar(next(run.quality.n for run in runs if not run.failed))
    for standing in found.standings:
        if standing.keeps and not standing.worthless and not standing.unrelated:
            assert ("too few of the neighbourhoods" in standing.text) == (
                standing.local < bar and standing.coarse is None
            )
            assert ("not the order of distances" in standing.text) == (standing.overall < GLOBAL_BAR)
    eligible = [s for s in found.standings if s.keeps and not (s.worthless or s.unrelated or s.labels)]
    if found.recommended is None:
        assert not any(s.trusted for s in eligible)
        return
    chosen = found.standings[found.recommended]
    by = recommended_for(chosen)
    for s in eligible:
        if by == "local" and s.local > chosen.local + 1e-6:
            assert s.trusted
            assert told_apart(runs[s.run], runs[found.recommended], "local") is False
        elif by != "local":
            assert s.local < bar
        if by == "coarse" and s.coarse is not None:
            assert s.coarse <= chosen.coarse + 1e-6
        if by == "overall":
            assert s.coarse is None
            assert s.overall <= chosen.overall + 1e-6


def assert_readable(found):
    """Plain words before any measure; a number that is less is written less; something to do next."""
    lines = (found.headline, *found.reasons)
    for line in lines:
        assert line.endswith("."), line
        assert not re.search(r"about (0|1) are|any are|\b1 maps|  |\.\.|nan|None", line), line
        for score, asked in re.findall(rf"({NUMBER}) \(({NUMBER}) is asked\)", line):
            assert float(score) < float(asked), line
        for k, kept in re.findall(r"Of the ([\d,]+) nearest rows on this map, about ([\d,]+) are", line):
            assert 2 <= int(kept) < int(k), line
        for own, behind in re.findall(rf"keeps most: \S+ ({NUMBER}) .*next is .*? with ({NUMBER})", line):
            assert float(behind) < float(own), line
    plain = MEASURED.split(found.headline)[0]
    assert ". " in plain or plain == found.headline
    assert "trusted" in plain or "nearest" in plain or "distances" in plain
    if found.recommended is not None:
        assert found.headline.startswith("Recommended")
        assert not re.search(r"too few[^.]*and not|worthless|may be noise|effect of", found.headline)
    else:
        assert found.headline.startswith("No map ")
        assert found.shown is None or found.reasons[1].startswith("What next: ")


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("0.30 (0.55 is asked)", "0.55 (0.55 is asked)"),
        ("about 4 are", "about 1 are"),
        ("about 4 are", "about 10 are"),
        ("What next", "Perhaps"),
        ("No map of this table is to be trusted: none", "Recommended: R_NX"),
    ],
)
def test_the_assertion_notices_words_that_are_wrong(said, instead):
    found = verdict([planted_run("poor", r=0.3, tau=0.2)])
    assert_readable(found)
    lines = (found.headline, *found.reasons)
    assert any(said in line for line in lines)
    headline, *others = (line.replace(said, instead) for line in lines)
    with pytest.raises(AssertionError):
        assert_readable(replace(found, headline=headline, reasons=tuple(others)))


def test_the_assertion_notices_a_map_that_is_called_worse():
    runs = [
        planted_run("first", r=0.7, tau=0.2),
        planted_run("second", r=0.6, tau=0.2),
    ]
    found = verdict(runs)
    assert_agrees(runs, found)
    with pytest.raises(AssertionError):
        assert_agrees(runs, replace(found, recommended=1))
    below = replace(found.standings[0], text=found.standings[0].text.replace("keeps", "keeps too few of the"))
    with pytest.raises(AssertionError):
        assert_agrees(runs, replace(found, standings=(below, found.standings[1])))


# ---- whatever the numbers are ------------------------------------------------------------------


share = st.integers(-2, 20).map(lambda value: value / 20)  # drawn evenly: floats would seldom pass a bar
scores = st.fixed_dictionaries(
    {
        "r": share,
        "tau": share,
        "near": share,
        "area": share,
        "p": st.sampled_from([None, 0.01]),
        "worthless": st.sampled_from([False, False, False, True]),
        "without": st.sampled_from([None, 0.001, 0.05]),
    }
)


@settings(max_examples=300)
@given(
    maps=st.lists(scores, min_size=2, max_size=5),
    many=st.booleans(),
    related=st.sampled_from([True, True, False]),
)
def test_no_map_is_called_worse_than_one_that_keeps_less(maps, many, related):
    n = LARGE if many else SMALL
    runs = []
    for i, one in enumerate(maps):
        one = {**one, "near": one["near"] if many else None, "p": one["p"] if related else 0.5}
        runs.append(planted_run(f"map {i}", n, **one))
    found = verdict(runs)
    assert_agrees(runs, found)
    assert_readable(found)


def test_the_map_that_keeps_more_neighbours_is_not_called_worse_for_its_ranks():
    """Seen: one of R_NX 0.34 was said to keep neither, as T and C were low; one of 0.15 was recommended."""
    low = {"trustworthiness(10)": 0.8, "continuity(10)": 0.84}
    high = {"trustworthiness(10)": 0.88, "continuity(10)": 0.9}
    more, less = (planted_run(name, r=r, tau=0.3) for name, r in (("more", 0.34), ("less", 0.15)))
    runs = [with_measures(more, low), with_measures(less, high)]
    found = verdict(runs)
    assert found.recommended is None
    assert found.shown == 0
    runs = [with_measures(planted_run("more", r=0.6, tau=0.3), low), runs[1]]
    assert verdict(runs).recommended == 0


def with_measures(run, values):
    found = run.quality.measures
    changed = {name: replace(found[name], value=value) for name, value in values.items()}
    return replace(run, quality=replace(run.quality, measures={**found, **changed}))


def test_a_small_mixed_table_of_cars_is_judged_by_what_is_said_of_it(tmp_path):
    """93 rows, 20 numbers of three kinds of car, six columns of levels: as the table that showed it."""
    random = np.random.default_rng(93)
    kind = random.integers(6, size=93)
    size = 0.8 * kind + random.normal(size=93)
    price = 0.6 * size + random.normal(size=93)
    frame = pd.DataFrame(
        {
            f"number {j}": a * size + b * price + 0.5 * random.normal(size=93)
            for j, (a, b) in enumerate(random.normal(size=(20, 2)))
        }
    )
    frame["type"] = [("small", "compact", "sporty", "midsize", "large", "van")[i] for i in kind]
    for name, levels in {"airbags": 3, "drive": 3, "cylinders": 5, "manual": 2, "origin": 2}.items():
        cut = np.quantile(size, np.arange(1, levels) / levels)
        frame[name] = [f"{name} {i}" for i in np.searchsorted(cut, size + random.normal(size=93))]
    frame.to_csv(tmp_path / "cars.csv", index=False)
    runs = compare(
        datasets.load(tmp_path / "cars.csv").X, methods=["pca", "isomap", "kde-isomap", "lle"], tune=False
    )
    found = verdict(runs)
    assert_agrees(runs, found)
    assert_agrees(runs[1:], verdict(runs[1:]))


# ---- every branch ------------------------------------------------------------------------------

PLAIN = (
    "Of the {} nearest rows on this map, about {} are really among the {} nearest in the table "
    "(by chance: {})."
)
NEAR = PLAIN.format(10, "{}", 10, "about 2")  # of 60 rows
NONE = "No map of this table is to be trusted: "
FEW = np.arange(60)


def saw(name, test, r=0.7):
    return planted_run(name, r=r, tau=0.2, saw_classes=True, label_test=test)


CASES = {
    "neighbourhoods": (
        [planted_run("fine", r=0.7, tau=0.2, params={"n_neighbors": 5})],
        f"Recommended: fine (n_neighbors=5). {NEAR.format(8)} fine keeps neighbourhoods (local structure), "
        "not the "
        "order of distances: R_NX(10) 0.70,",
        "It keeps neighbourhoods: R_NX(10) 0.70 (1 is perfect, 0 is chance).",
        "No map to be trusted keeps the order of distances: the best tau is 0.20 (0.50 is asked), of fine.",
    ),
    "both": (
        [planted_run("fine", r=0.7, tau=0.7), planted_run("two", r=0.6, tau=0.3)],
        f"Recommended: fine. {NEAR.format(8)} fine keeps neighbourhoods and the order of distances: "
        "R_NX(10) 0.70,",
        "Of 2 maps that keep neighbourhoods it keeps most: R_NX(10) 0.70 (1 is perfect, 0 is chance); next "
        "is two with "
        "0.60.",
        "It also keeps the order of distances best: tau 0.70.",
    ),
    "others keep distances better": (
        [
            planted_run("fine", r=0.7, tau=0.701),
            *(planted_run(name, r=0.2, tau=0.703) for name in ("a", "b")),
        ],
        f"Recommended: fine. {NEAR.format(8)}",
        "It alone of 3 maps keeps neighbourhoods: R_NX(10) 0.70 (1 is perfect, 0 is chance).",
        "It keeps the order of distances too, tau 0.701; a and b keep it best: tau 0.703.",
    ),
    "others keep distances as well": (
        [planted_run("first", r=0.2, tau=0.7), planted_run("fine", r=0.7, tau=0.7)],
        f"Recommended: fine. {NEAR.format(8)}",
        "It alone of 2 maps keeps neighbourhoods",
        "It also keeps the order of distances best: tau 0.70.",
    ),
    "others alone keep distances": (
        [planted_run("fine", r=0.7, tau=0.3), planted_run("far", r=0.2, tau=0.7)],
        f"Recommended: fine. {NEAR.format(8)}",
        "It alone of 2 maps keeps neighbourhoods",
        "For distances across the whole table read far instead: tau 0.70.",
    ),
    "nearly equal": (
        [planted_run("fine", r=0.7049, tau=0.2), planted_run("next", r=0.7012, tau=0.2)],
        f"Recommended: fine. {NEAR.format(8)}",
        "Of 2 maps that keep neighbourhoods it keeps most: R_NX(10) 0.705 (1 is perfect, 0 is chance); "
        "next is next "
        "with 0.701.",
        "No map to be trusted keeps the order of distances",
    ),
    "coarse neighbourhoods": (
        [
            planted_run("coarse", LARGE, r=0.3, near=0.6, tau=0.2),
            planted_run("other", LARGE, r=0.4, near=0.55, tau=0.2),
        ],
        f"Recommended: coarse. {PLAIN.format(21, 13, 21, 'about 1')} Of the 10 nearest about 3 are. coarse "
        "keeps coarse "
        "neighbourhoods, of 21 rows (local structure), not the order of distances: R_NX(21) 0.60, R_NX(10) "
        "0.30 (0.52 "
        "is asked),",
        "Of 2 maps that keep coarse neighbourhoods it keeps most: R_NX(21) 0.60 (1 is perfect, 0 is "
        "chance); next is "
        "other with 0.55.",
        "No map to be trusted keeps the order of distances",
    ),
    "coarse and distances": (
        [planted_run("coarse", LARGE, r=0.02, near=0.6, tau=0.7)],
        f"Recommended: coarse. {PLAIN.format(21, 13, 21, 'about 1')} Of the 10 nearest hardly any is. "
        "coarse keeps "
        "coarse neighbourhoods, of 21 rows, and the order of distances: ",
        "It keeps coarse neighbourhoods: R_NX(21) 0.60",
        "It also keeps the order of distances best: tau 0.70.",
    ),
    "distances": (
        [planted_run("far", r=0.3, tau=0.7), planted_run("poor", r=0.4, tau=0.2)],
        "Recommended: far. Of two distances between rows, this map shows the longer one as longer in 85% "
        "of cases (by "
        "chance: 50%). far keeps the order of distances (global structure), too few of the neighbourhoods: "
        "R_NX(10) "
        "0.30 (0.55 is asked),",
        "It alone of 2 maps keeps the order of distances: tau 0.70 (1 is perfect, 0 is chance).",
        "No map to be trusted keeps enough of the neighbourhoods, so do not read which rows are next to "
        "each other. "
        "Most keeps poor: R_NX(10) 0.40 (0.55 is asked).",
    ),
    "exact, of unrelated columns": (
        [planted_run("exact", r=1.0, tau=1.0, p=0.4), planted_run("other", r=0.8, tau=0.3, p=0.4)],
        "Recommended: exact. Of the 10 nearest rows on this map, all are really among the 10 nearest in "
        "the table",
        "It alone of 2 maps is to be trusted for neighbourhoods: R_NX(10) 1.00",
        "It also keeps the order of distances best: tau 1.00.",
        "Perhaps noise, as the columns cannot be told from unrelated ones: other.",
    ),
    "saw classes that are real": (
        [saw("seer", REAL), planted_run("poor", r=0.3, tau=0.2)],
        f"Recommended: seer. {NEAR.format(8)} seer keeps neighbourhoods",
        "It keeps neighbourhoods: R_NX(10) 0.70",
        "No map to be trusted keeps the order of distances",
    ),
    "no need of one that saw the classes": (
        [saw("seer", REAL), *(planted_run(name, r=0.6, tau=0.2) for name in ("a", "b"))],
        f"Recommended: a. {NEAR.format(7)}",
        "Of 2 maps that keep neighbourhoods and did not see the classes it keeps most: R_NX(10) 0.60 (1 is "
        "perfect, 0 is "
        "chance); b as much.",
        "No map to be trusted keeps the order of distances",
    ),
    "little": (
        [planted_run("poor", r=0.3, tau=0.2), planted_run("other", r=0.2, tau=0.3)],
        f"{NONE}none keeps enough of the rows that are nearest to a row, nor the order of distances. The "
        "greatest "
        "R_NX(10) is 0.30 (0.55 is asked), the greatest tau 0.30 (0.50 is asked).",
        f"The best of them is poor. {NEAR.format(4)} poor keeps too few of the neighbourhoods, and not the "
        "order",
        "What next: compare more methods (the preset thorough), or only the columns that matter",
        "All are better than chance, but that alone says little.",
    ),
    "all but enough of few rows": (
        [planted_run("near", 30, r=0.5729, tau=0.4999)],
        f"{NONE}none keeps enough of the rows that are nearest to a row, nor the order of distances. The "
        "greatest "
        "R_NX(9) is 0.5729 (0.5730 is asked), the greatest tau 0.4999 (0.5000 is asked).",
        "The best of them is near. Of the 10 nearest rows on this map, about 7 are",
        "What next: compare more methods",
    ),
    "groups": (
        [planted_run("poor", 300, r=0.1, near=0.6, tau=0.2)],
        f"{NONE}none keeps enough",
        "The best of them is poor. Of the 10 nearest rows on this map, about 1 is really among the 10 "
        "nearest in the "
        "table (by chance: fewer than 1).",
        "What next: compare more methods",
    ),
    "unrelated": (
        [planted_run("noise", r=0.7, tau=0.2, p=0.4), planted_run("poor", r=0.2, tau=0.2, p=0.4)],
        f"{NONE}its columns cannot be told from unrelated ones. Rows lie no closer together than with each "
        "column "
        "shuffled by itself (p = 0.40): what a map shows may be noise.",
        f"The best of them is noise. {NEAR.format(8)} noise draws columns that cannot be told from "
        "unrelated ones",
        "What next: look at the columns one by one, leave out those that are noise, or bring more rows",
    ),
    "unrelated, and little": (
        [planted_run("poor", r=0.2, tau=0.2, p=0.4)],
        f"{NONE}its columns cannot be told from unrelated ones.",
        "The best of them is poor.",
        "What next: look at the columns one by one",
    ),
    "chance": (
        [planted_run(name, r=0.0, tau=0.0, worthless=True) for name in ("a", "b")],
        f"{NONE}none is better than the same points in random places.",
        "Shown is a. Of the 10 nearest rows on this map, about 2 are really",
        "What next: look at the columns one by one",
        "Worthless, no better than chance: a, b.",
    ),
    "chance, and little": (
        [planted_run("lucky", r=0.7, tau=0.2, worthless=True), planted_run("poor", r=0.3, tau=0.2)],
        f"{NONE}none keeps enough of the rows that are nearest to a row, nor the order of distances. The "
        "greatest "
        "R_NX(10) is 0.30 (0.55 is asked),",
        "The best of them is poor.",
        "What next: compare more methods",
        "Worthless, no better than chance: lucky.",
    ),
    "effect of the labels": (
        [saw("seer", EFFECT), planted_run("poor", r=0.3, tau=0.2)],
        f"{NONE}those that keep something saw the classes, and what they show of them is an effect of the "
        "labels.",
        f"The best of them is poor. {NEAR.format(4)}",
        "What next: compare methods that do not see the classes, or bring columns that tell them apart.",
    ),
    "unrelated, and an effect of the labels": (
        [planted_run("seer", r=0.7, tau=0.2, p=0.4, saw_classes=True, label_test=EFFECT)],
        f"{NONE}its columns cannot be told from unrelated ones.",
        "The best of them is seer.",
        "What next: look at the columns one by one",
    ),
    "exact, and an effect of the labels": (
        [planted_run("seer", r=0.95, tau=0.2, p=0.4, saw_classes=True, label_test=EFFECT)],
        f"{NONE}those that keep something saw the classes",
    ),
    "labels not tested": (
        [saw("seer", None)],
        f"{NONE}those that keep something saw the classes, and whether what they show of them is more than "
        "an effect of "
        "the labels was not tested.",
        f"The best of them is seer. {NEAR.format(8)}",
        "What next: compare methods that do not see the classes, which need no such test.",
    ),
    "failed": (
        [FAILED],
        "No map is to be trusted: every method failed. Why, and what to do, is said of each.",
        "broken gave no map: It broke.",
    ),
    "all rows": (
        [planted_run("fine", r=0.7, tau=0.2, rows=FEW), planted_run("fine", LARGE, r=0.6, tau=0.2)],
        f"Recommended: fine. {PLAIN.format(10, 6, 10, 'fewer than 1')} fine keeps neighbourhoods",
        "On the 60 compared rows, it keeps neighbourhoods: R_NX(10) 0.70",
        "No map to be trusted keeps the order of distances",
    ),
    "a sample, and not all rows": (
        [planted_run("fine", r=0.7, tau=0.2, rows=FEW), planted_run("fine", LARGE, r=0.2, tau=0.2)],
        f"Recommended for the 60 compared rows only: fine. {NEAR.format(8)} fine keeps neighbourhoods",
        "On the 60 compared rows, it keeps neighbourhoods: R_NX(10) 0.70",
        "No map to be trusted keeps the order of distances",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_branch_has_its_words(name):
    runs, headline, *reasons = CASES[name]
    found = verdict(runs)
    assert_readable(found)
    assert found.headline.startswith(headline)
    for said, expected in zip(found.reasons, reasons, strict=False):
        assert said.startswith(expected)


def test_a_map_of_all_rows_that_is_not_trusted_is_told_apart_from_the_sample():
    found = verdict(CASES["a sample, and not all rows"][0])
    assert found.headline.endswith(
        "Its map of all rows is not to be trusted: of the 10 nearest rows on this map, about 2 are really "
        "among the 10 "
        "nearest in the table (by chance: fewer than 1)."
    )
    assert found.sampled == "Compared on 60 of 420 rows; the recommended map was then fitted on all."


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (4, r"For \d+% of the rows the nearest on this map is the nearest in the table\."),
        (5, r"Of the 2 nearest rows on this map, (about 1 is|(nearly )?all are|hardly any is) really among "
            r"the 2 nearest in the table \(by chance: about 1\)\."),
        (21, r"Of the 10 nearest rows on this map, about \d+ are really among the 10 nearest in the table "
             r"\(by chance: about 5\)\."),
        (300, r"Of the 10 nearest rows on this map, about \d+ are really among the 10 nearest in the table "
              r"\(by chance: fewer than 1\)\."),
    ],
)  # fmt: skip
def test_few_rows_have_plain_words_too(n, said):
    run = measured_run(n)
    if "kendall_tau" in run.quality.measures:
        run = with_measures(run, {"kendall_tau": 0.2})
    assert re.fullmatch(said, in_plain_words(run))
    assert run.quality.n_neighbors[0] == {4: 1, 5: 2}.get(n, 10)


# ---- the order of all maps ---------------------------------------------------------------------


@settings(max_examples=150)
@given(
    maps=st.lists(st.tuples(scores, st.sampled_from([0, 0, 0, 1, 2])), min_size=1, max_size=7),
    many=st.booleans(),
    related=st.sampled_from([True, True, False]),
)
def test_the_order_of_maps_is_that_of_the_rule(maps, many, related):
    """The first map is the one that the rule prefers; without it, the second; and so on to the last."""
    runs = []
    for i, (one, seen) in enumerate(maps):
        one = {**one, "near": one["near"] if many else None, "p": one["p"] if related else 0.5}
        tests = {} if not seen else {"saw_classes": True, "label_test": (REAL, EFFECT)[seen - 1]}
        runs.append(planted_run(f"map {i}", LARGE if many else SMALL, **one, **tests))
    order = [standing.run for standing in best_first(verdict(runs).standings)]
    assert sorted(order) == list(range(len(runs)))
    for i in range(len(order)):
        left = sorted(order[i:])
        found = verdict([runs[run] for run in left])
        first = found.best_local if found.best_local is not None else found.best_global
        assert left[found.shown if first is None else first] == order[i]


def test_a_coarse_map_stands_by_its_coarse_neighbourhoods():
    """By R_NX(10) the third would be second, and the fifth, which keeps distances alone, first of the "
    "rest."""
    runs = [
        planted_run("fine", LARGE, r=0.6, near=0.6, tau=0.2),
        planted_run("coarse", LARGE, r=0.2, near=0.7, tau=0.2),
        planted_run("less coarse", LARGE, r=0.45, near=0.55, tau=0.9),
        planted_run("little", LARGE, r=0.5, near=0.5, tau=0.2),
        planted_run("far", LARGE, r=0.4, near=0.4, tau=0.8),
        planted_run("farther", LARGE, r=0.1, near=0.1, tau=0.9),
    ]
    found = verdict(runs)
    names = [standing.method for standing in best_first(found.standings, found.shown)]
    assert names == ["fine", "coarse", "less coarse", "farther", "far", "little"]
    assert [s.method for s in best_first(found.standings, 4)] == [
        "far", "fine", "coarse", "less coarse", "farther", "little",
    ]  # fmt: skip
