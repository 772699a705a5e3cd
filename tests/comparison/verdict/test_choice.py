"""Which map is recommended: never a dominated one, never one that is poor on both questions, and no cliff."""

from hypothesis import given, settings
from hypothesis import strategies as st
from planted_runs import EFFECT, FAILED, REAL, planted_run

from isentropic.comparison import verdict
from isentropic.comparison.verdict.choice import dominates, rank_maps, recommend, usefulness
from isentropic.comparison.verdict.grades import rate
from isentropic.comparison.verdict.thresholds import FLOOR, SAME, at_least

NAMES = ("umap", "pca", "t-sne", "mine", "isomap")
SCORES = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(-0.2, 1.0)), min_size=1, max_size=5)


def ratings_of(scores):
    return [
        rate(planted_run(name, near=near, tau=tau), i)
        for i, (name, (near, tau)) in enumerate(zip(NAMES, scores, strict=False))
    ]


@given(SCORES)
def test_no_other_map_is_better_on_every_shown_score(scores):
    ratings = ratings_of(scores)
    found = recommend(ratings)
    if found is not None:
        assert not any(dominates(other, found) for other in ratings if other.usable)


def test_the_law_of_dominance_can_fail():
    low, high = ratings_of([(0.2, 0.2), (0.9, 0.9)])
    assert dominates(high, low)
    assert not dominates(low, high)
    assert not dominates(high, high)


@given(SCORES)
def test_a_map_that_is_poor_on_both_questions_is_never_recommended(scores):
    ratings = ratings_of(scores)
    found = recommend(ratings)
    usable = [r for r in ratings if any(at_least(r.level(q), "fair") for q in ("neighbors", "distances"))]
    assert (found is None) == (not usable)
    if found is not None:
        assert found in usable


@given(SCORES)
def test_what_is_lost_against_the_most_useful_map_is_of_no_practical_size(scores):
    ratings = ratings_of(scores)
    found = recommend(ratings)
    if found is not None:
        best = max(usefulness(rating) for rating in ratings if rating.usable)
        assert usefulness(found) >= best - SAME - 1e-12


@settings(max_examples=200)
@given(SCORES, st.integers(0, 4), st.floats(-0.01, 0.01), st.booleans())
def test_a_small_change_of_a_score_never_costs_more_than_a_small_one(scores, place, change, of_distances):
    """No cliff: t-SNE at 0.51 and a bar of 0.52 made a map of 0.18 the recommended one."""
    place %= len(scores)
    near, tau = scores[place]
    moved = [*scores]
    if of_distances:
        moved[place] = (near, min(1.0, max(-0.2, tau + change)))
    else:
        moved[place] = (min(1.0, max(0.0, near + change)), tau)
    before, after = recommend(ratings_of(scores)), recommend(ratings_of(moved))
    if before is None or after is None:
        return
    old = {rating.run: usefulness(rating) for rating in ratings_of(scores)}
    steepest = 1 / FLOOR  # what a change of a score can change of the usefulness
    assert abs(old[before.run] - old[after.run]) <= SAME + 2 * steepest * abs(change) + 1e-9


@given(SCORES)
def test_a_recommended_map_that_gets_better_stays_recommended(scores):
    found = recommend(ratings_of(scores))
    if found is None:
        return
    better = [*scores]
    near, tau = scores[found.run]
    better[found.run] = (min(1.0, near + 0.2), min(1.0, tau + 0.1))
    assert recommend(ratings_of(better)).run == found.run


def test_of_maps_that_are_the_same_in_practice_the_familiar_one_is_preferred():
    assert recommend(ratings_of([(0.90, 0.5), (0.89, 0.5), (0.90, 0.5)])).method == "pca"
    assert recommend(ratings_of([(0.90, 0.5), (0.70, 0.5), (0.89, 0.5)])).method == "t-sne"
    assert recommend(ratings_of([(0.95, 0.5), (0.70, 0.5), (0.80, 0.5)])).method == "umap"


def test_a_map_that_retains_nearly_all_neighbors_is_preferred_else_one_that_retains_distances():
    assert recommend(ratings_of([(0.97, 0.36), (0.36, 0.42)])).method == "umap"  # as of digits
    assert recommend(ratings_of([(0.86, 0.55), (0.59, 0.85)])).method == "pca"
    assert recommend(ratings_of([(0.79, 0.5), (0.90, 0.85)])).method == "pca"


def test_a_map_that_saw_the_classes_is_recommended_only_where_no_other_can_be_used():
    seeing = planted_run("lda", near=0.95, tau=0.9, saw_classes=True, label_test=REAL)
    blind, poor = planted_run("pca", near=0.6, tau=0.2), planted_run("pca", near=0.2, tau=0.2)
    effect = planted_run("lda", near=0.95, tau=0.9, saw_classes=True, label_test=EFFECT)
    assert verdict([seeing, blind]).recommended == 1
    assert verdict([seeing, poor]).recommended == 0
    assert verdict([effect, poor]).recommended is None
    assert verdict([effect, poor]).shown == 1
    assert "effect of the labels" in verdict([effect, poor]).headline


@given(SCORES)
def test_the_shown_map_comes_first_and_failed_ones_not_at_all(scores):
    ratings = [*ratings_of(scores), rate(FAILED, len(scores))]
    order = rank_maps(ratings)
    assert len(order) == len(scores)
    found = recommend(ratings)
    if found is not None:
        assert rank_maps(ratings, found.run)[0] == found
        assert order[0].usable
