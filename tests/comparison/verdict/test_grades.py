"""Grades lie on the scale that their sentences show: equal sentences never carry different grades."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_runs import EFFECT, FAILED, REAL, planted_run

from isentropic import compare
from isentropic.comparison.verdict.grades import distances_grade, labels_of, neighbors_grade, rate
from isentropic.comparison.verdict.thresholds import distances_level, neighbors_level
from isentropic.quality import near_neighbor_share

SHARES = st.floats(0.0, 1.0)
COUNTED = re.compile(
    r"([\d.]+) of the (\d+) points beside a point (?:is|are) close to it in the data too; by chance (.*)\."
)


@pytest.mark.parametrize(
    ("near", "chance", "level"),
    [
        (0.98, 0.0, "good"),
        (0.80, 0.0, "good"),
        (0.79, 0.0, "fair"),
        (0.50, 0.0, "fair"),
        (0.49, 0.0, "poor"),
        (0.10, 0.0, "poor"),
        (0.09, 0.0, "chance"),
        (0.0, 0.5, "chance"),
        (0.9, 0.9, "chance"),
        (0.2, 0.96, "chance"),
    ],
)
def test_near_neighbors_are_counted_down_to_whole_ones_of_ten(near, chance, level):
    assert neighbors_grade(planted_run("map", near=near, chance=chance)).level == level


@pytest.mark.parametrize(
    ("tau", "level"),
    [
        (0.99, "good"),
        (0.70, "good"),
        (0.69, "fair"),
        (0.5, "fair"),
        (0.49, "poor"),
        (0.1, "poor"),
        (0.09, "chance"),
        (-0.5, "chance"),
    ],
)
def test_pairs_of_distances_are_counted_down_to_whole_ones_of_a_hundred(tau, level):
    assert distances_grade(planted_run("map", near=0.5, tau=tau)).level == level


def test_a_map_without_tau_has_no_grade_for_distances():
    assert distances_grade(planted_run("map", near=0.5, tau=None)) is None
    assert rate(planted_run("map", near=0.9, tau=None), 0).level("distances") == "unknown"


@given(SHARES, SHARES, SHARES, SHARES)
def test_equal_sentences_carry_equal_grades(near, other, chance, other_chance):
    one = neighbors_grade(planted_run("one", near=near, chance=chance))
    two = neighbors_grade(planted_run("two", near=other, chance=other_chance))
    if one.sentence == two.sentence:
        assert one.level == two.level
    assert one.level == neighbors_level(*_shown(one.sentence))


def _shown(sentence):
    """What the sentence says, as shares."""
    count, k, chance = COUNTED.fullmatch(sentence).groups()
    return float(count) / int(k), 0.0 if chance == "fewer than 1" else float(chance) / int(k)


@given(st.floats(-1.0, 1.0))
def test_the_sentence_on_distances_holds_its_grade(tau):
    grade = distances_grade(planted_run("map", near=0.5, tau=tau))
    ordered = int(grade.sentence.split()[0])
    assert grade.level == distances_level(ordered)
    assert ordered <= 50 * (1 + tau) + 1e-6 < ordered + 1 + 2e-6
    assert grade.value == ordered / 100


@given(SHARES, SHARES)
def test_more_near_neighbors_are_never_graded_lower(one, other):
    order = ["chance", "poor", "fair", "good"]
    low, high = (neighbors_grade(planted_run("map", near=near)) for near in sorted((one, other)))
    assert order.index(low.level) <= order.index(high.level)
    assert low.value <= high.value


def test_the_count_is_that_of_the_measure(rng):
    """Near neighbors counted by hand."""
    X = rng.normal(size=(80, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5])
    (run,) = compare(X, methods={"two": lambda X: X[:, :2]}, tune=False)
    found = near_neighbor_share(X, X[:, :2])
    grade = neighbors_grade(run)
    assert grade.value == np.floor(10 * found.share) / 10
    assert grade.chance == pytest.approx(found.chance)
    assert grade.score == pytest.approx(found.corrected)
    assert grade.low <= 1
    assert grade.high >= grade.low


def test_few_rows_have_fewer_neighbors_and_a_decimal():
    grade = neighbors_grade(planted_run("map", n=21, near=0.9, chance=0.33))
    assert (
        grade.sentence == "6.5 of the 7 points beside a point are close to it in the data too; by chance 2.3."
    )


def test_an_interval_comes_from_the_rows_left_out_or_there_is_none():
    assert neighbors_grade(planted_run("map", near=0.5)).low is None
    grade = neighbors_grade(planted_run("map", near=0.5, without=0.01))
    assert grade.low < 0.1 + 0.9 * 0.5 < grade.high


def test_what_is_worthless_is_no_better_than_chance_and_not_usable():
    rating = rate(planted_run("map", near=0.9, worthless=True), 0)
    assert rating.worthless
    assert not rating.usable
    assert rating.level("neighbors") == "chance"
    assert rating.text == "map is no better than the same points in random places."


@pytest.mark.parametrize(
    ("test", "labels", "usable"), [(REAL, "real", True), (EFFECT, "effect", False), (None, "untested", False)]
)
def test_labels_that_a_map_saw_are_worth_what_their_test_says(test, labels, usable):
    run = planted_run("lda", near=0.9, saw_classes=True, label_test=test)
    assert labels_of(run) == labels
    rating = rate(run, 0)
    assert rating.usable == usable
    assert ("effect of the labels" in rating.text) == (labels == "effect")


def test_a_failed_run_says_why():
    rating = rate(FAILED, 3)
    assert (rating.failed, rating.usable, rating.run) == (True, False, 3)
    assert rating.text == "broken gave no map: It broke."
