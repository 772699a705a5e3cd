"""A verdict's sentences agree with the numbers beside them, whatever the numbers are."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isentropic import Run, compare, datasets
from isentropic.comparison import LabelTest, verdict
from isentropic.comparison.rivals import recommended_for, told_apart
from isentropic.comparison.standings import GLOBAL_BAR, LOCAL_BAR, in_plain_words
from isentropic.quality import assess
from isentropic.quality.measures import MEASURES

SMALL, LARGE = 60, 420  # rows; only of many are there coarse neighbourhoods
MEASURED = re.compile(r"R_NX|\btau\b|\b[TC]\(\d")  # what nobody needs to know to read the first sentence


def assert_agrees(runs, found):
    """No map is called worse than one that keeps less of the same, and no words gainsay their numbers."""
    for standing in found.standings:
        if standing.keeps and not standing.worthless and not standing.unrelated:
            assert ("less than half of the neighbourhoods" in standing.text) == (
                standing.local < LOCAL_BAR and standing.coarse is None
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
            assert s.local < LOCAL_BAR
        if by == "coarse" and s.coarse is not None:
            assert s.coarse <= chosen.coarse + 1e-6
        if by == "overall":
            assert s.coarse is None
            assert s.overall <= chosen.overall + 1e-6


def test_the_assertion_notices_a_map_that_is_called_worse():
    runs = [
        with_scores(of_rows(SMALL), "first", r=0.7, tau=0.2),
        with_scores(of_rows(SMALL), "second", r=0.6, tau=0.2),
    ]
    found = verdict(runs)
    assert_agrees(runs, found)
    with pytest.raises(AssertionError):
        assert_agrees(runs, replace(found, recommended=1))
    below = replace(
        found.standings[0], text=found.standings[0].text.replace("keeps", "keeps less than half of the")
    )
    with pytest.raises(AssertionError):
        assert_agrees(runs, replace(found, standings=(below, found.standings[1])))


# ---- made runs ---------------------------------------------------------------------------------


@cache
def of_rows(n):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 5))
    return Run("made", {}, None, 0.0, None, embedding=X[:, :2], quality=assess(X, X[:, :2]))


def with_scores(run, name, *, r, tau, near=None, area=0.3, p=None, worthless=False, without=None):
    """The same rows with other scores; ``near`` is R_NX of a twentieth of them."""
    k, n = run.quality.n_neighbors[0], run.quality.n
    values = {f"r_nx({k})": r, "kendall_tau": tau, "rnx_auc": area}
    if near is not None:
        values[f"r_nx({n // 20})"] = near
    found = run.quality.measures
    blank = MEASURES["r_nx"].measure()
    changed = {name: replace(found.get(name, blank), value=value) for name, value in values.items()}
    return replace(
        run,
        method=name,
        quality=replace(run.quality, measures={**found, **changed}),
        relation=None if p is None else (0.1, p),
        baseline={"rnx_auc": (0.0, 1.0 if worthless else 0.01)},
        without={} if without is None else {f"r_nx({k})": tuple(r + without * np.cos(np.arange(20.0)))},
    )


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
    base = of_rows(LARGE if many else SMALL)
    runs = []
    for i, one in enumerate(maps):
        one = {**one, "near": one["near"] if many else None, "p": one["p"] if related else 0.5}
        runs.append(with_scores(base, f"map {i}", **one))
    assert_agrees(runs, verdict(runs))


def test_the_map_that_keeps_more_neighbours_is_not_called_worse_for_its_ranks():
    """Seen: one of R_NX 0.34 was said to keep neither, as T and C were low; one of 0.15 was recommended."""
    low = {"trustworthiness(10)": 0.8, "continuity(10)": 0.84}
    high = {"trustworthiness(10)": 0.88, "continuity(10)": 0.9}
    more, less = (
        with_scores(of_rows(SMALL), name, r=r, tau=0.3) for name, r in (("more", 0.34), ("less", 0.15))
    )
    runs = [with_measures(more, low), with_measures(less, high)]
    found = verdict(runs)
    assert found.recommended is None
    assert found.shown == 0
    runs = [with_measures(with_scores(of_rows(SMALL), "more", r=0.6, tau=0.3), low), runs[1]]
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


# ---- plain words first -------------------------------------------------------------------------


def first_sentences(text):
    """What is said before the first number of a measure."""
    return MEASURED.split(text)[0]


def test_every_headline_begins_with_plain_words():
    failed = Run("broken", {}, None, 0.0, None, reason="It broke.")
    null = LabelTest("honest", "accuracy", 0.4, (0.3, 0.4, 0.5), 0.9, (0.85, 0.95, 0.9), 84, 36, 2, 0)
    fine = with_scores(of_rows(SMALL), "fine", r=0.7, tau=0.2)
    cases = {
        "trusted": [fine],
        "coarse": [with_scores(of_rows(LARGE), "coarse", r=0.3, near=0.6, tau=0.2)],
        "distances": [with_scores(of_rows(SMALL), "far", r=0.3, tau=0.7)],
        "none": [with_scores(of_rows(SMALL), "poor", r=0.3, tau=0.2)],
        "unrelated": [with_scores(of_rows(SMALL), "noise", r=0.7, tau=0.2, p=0.4)],
        "chance": [with_scores(of_rows(SMALL), "chance", r=0.7, tau=0.2, worthless=True)],
        "labels": [replace(fine, saw_classes=True, label_test=null)],
        "failed": [failed],
    }
    said = {name: verdict(runs).headline for name, runs in cases.items()}
    assert said["coarse"].startswith("Recommended: coarse. Of the 21 nearest rows on this map, about ")
    assert "coarse keeps coarse neighbourhoods, of 21 rows (local structure), not the order" in said["coarse"]
    assert "R_NX(21) 0.60, R_NX(10) 0.30" in said["coarse"]
    assert said["distances"].startswith(
        "Recommended: far. Of two distances between rows, this map shows the longer one as longer in 85% of "
    )
    assert said["none"].startswith(
        "No map of this table is to be trusted: none keeps half of the rows that are nearest to a row, nor"
    )
    for name, headline in said.items():
        plain = first_sentences(headline)
        assert ". " in plain or plain == headline, name
        assert "trusted" in plain or "nearest" in plain or "distances" in plain, name
    reasons = verdict(cases["none"]).reasons[0]
    assert reasons.startswith("The best of them is poor. Of the 10 nearest rows on this map, about ")


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
    run = of_rows(n)
    if "kendall_tau" in run.quality.measures:
        run = with_measures(run, {"kendall_tau": 0.2})
    assert re.fullmatch(said, in_plain_words(run))
    assert run.quality.n_neighbors[0] == {4: 1, 5: 2}.get(n, 10)
