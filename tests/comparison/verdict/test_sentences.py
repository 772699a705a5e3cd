"""Every sentence holds to its numbers, and no two of them contradict each other."""

import itertools
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_runs import EFFECT, FAILED, REAL, planted_run

from isentropic import Run
from isentropic._core.errors import InvalidInputError
from isentropic.comparison import GroupAnswer, verdict
from isentropic.comparison.verdict import text
from isentropic.comparison.verdict.answers import about_columns, about_one_direction
from isentropic.comparison.verdict.caveats import caveats, with_groups


class Answered:
    """A test of groups with this answer."""

    def __init__(self, answer, *groups, reason=""):
        self.answer, self.groups, self.reason = answer, groups, reason


class Named:
    def __init__(self, name, made_by=()):
        self.name, self.made_by = name, made_by


GROUPS = Answered("groups", Named("A"), Named("B"))


@pytest.mark.parametrize(
    ("near", "tau", "use", "caution"),
    [
        (0.9, 0.8, "Use PCA to see which rows are alike, and how far apart they are.", ""),
        (0.6, 0.6, "Use PCA to see which rows are alike.", "Read distances between groups only roughly."),
        (0.9, 0.3, "Use PCA to see which rows are alike.", "Do not read distances between groups."),
        (0.9, 0.0, "Use PCA to see which rows are alike.", "Do not read distances between groups."),
        (0.2, 0.6, "Use PCA to see how far apart rows are.", "Do not read which ones are neighbours."),
        (
            0.2,
            0.2,
            "No flat map shows which rows are alike in this table.",
            "PCA is shown because no map is better.",
        ),
    ],
)
def test_the_headline_follows_the_two_grades(near, tau, use, caution):
    found = verdict([planted_run("pca", near=near, tau=tau, chance=0.0)], GROUPS)
    assert (found.use, found.caution) == (use, caution)
    assert found.headline == f"{use} {caution}".strip()
    assert (found.recommended is None) == use.startswith("No ")
    assert found.shown == 0


def test_distances_between_groups_are_spoken_of_only_where_there_are_groups():
    run = planted_run("pca", near=0.9, tau=0.3)
    assert "groups" not in verdict([run], Answered("none")).headline
    assert (
        verdict([run], Answered("none")).caution == "Do not read distances between points that lie far apart."
    )


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ([planted_run("pca", near=0.9, tau=0.8, p=0.3)], "its columns are unrelated"),
        (
            [planted_run("pca", near=0.9, tau=0.8, relation=(0.04, 0.01, 1.9))],
            "its columns are hardly related",
        ),
        ([planted_run("pca", near=0.2, tau=0.1, chance=0.96)], "the distances between rows hardly differ"),
        ([planted_run("pca", near=0.9, worthless=True)], "none is better than random places"),
        ([FAILED], "No method gave a map of this table."),
        ([planted_run("lda", near=0.9, saw_classes=True)], "it was not tested what that"),
        ([planted_run("lda", near=0.9, saw_classes=True, label_test=EFFECT)], "an effect of the labels"),
    ],
)
def test_where_no_map_is_recommended_the_reason_and_the_next_step_are_said(runs, says):
    found = verdict(runs)
    assert found.recommended is None
    assert says in found.headline
    assert found.choice[0].endswith(".")


def test_unrelated_columns_are_told_with_their_chance_unless_the_drawing_is_exact():
    run = planted_run("pca", near=0.9, tau=0.8, p=0.27)
    assert "shuffled by itself (p = 0.27)" in verdict([run]).choice[0]
    assert verdict([planted_run("pca", near=1.0, tau=1.0, p=0.27)]).recommended == 0
    assert verdict([planted_run("pca", near=0.99, tau=0.99, p=0.27)]).recommended is None
    assert verdict([planted_run("pca", near=0.9, tau=0.8, p=0.01)]).recommended == 0


def test_rows_that_lie_twice_as_dense_as_unrelated_columns_put_them_are_related():
    run = planted_run("pca", near=0.9, tau=0.8, relation=(0.04, 0.01, 2.0))
    assert verdict([run]).recommended == 0


def test_the_lines_are_the_first_screen_in_its_order():
    runs = [planted_run("t-sne", near=0.9, tau=0.3), planted_run("pca", near=0.3, tau=0.8), FAILED]
    found = verdict(runs, GROUPS, shows=["Half of it is size."])
    assert found.lines == (
        "Use t-SNE to see which rows are alike. Do not read distances between groups.",
        "Which rows are alike: good. 9 of the 10 points beside a point are close to it in the data too; by "
        "chance 1.",
        "How far apart things are: poor. 65 of 100 pairs of distances are in the right order on the map; by "
        "chance 50.",
        "Are there groups: 2 groups, each found again in both halves of the rows.",
        "Half of it is size.",
        "The groups: A; B.",
        *(f"Be careful: {caveat.text}" for caveat in found.caveats),
        "t-SNE is the most useful of 2 maps, by the neighbours and the distances that it retains.",
        "For distances look at PCA: 90 of 100 pairs are in the right order, here 65.",
        "broken gave no map: It broke.",
    )


def test_maps_that_are_the_same_in_practice_are_named():
    found = verdict([planted_run("t-sne", near=0.90), planted_run("umap", near=0.91)])
    assert found.choice[0] == (
        "All in all, UMAP is about as useful; t-SNE is preferred as the simpler or the more familiar of the "
        "2."
    )


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-0.2, 1)), min_size=1, max_size=4),
    st.floats(0, 0.98),
    st.sampled_from([None, 0.01, 0.5]),
    st.sampled_from([None, GROUPS, Answered("none"), Answered("not tested", reason="below 30 rows")]),
)
def test_no_sentence_contradicts_another(scores, chance, p, groups):
    names = ("t-sne", "umap", "pca", "isomap")
    runs = [
        planted_run(name, near=near, tau=tau, chance=chance, p=p)
        for name, (near, tau) in zip(names, scores, strict=False)
    ]
    found = verdict(runs, groups)
    require_consistent(found)


def require_consistent(found):
    """Pairs of sentences by their numbers."""
    said = " ".join(found.lines)
    rating = found.ratings[found.shown]
    if "see which rows are alike." in found.use or "alike, and" in found.use:
        assert rating.level("neighbors") in ("good", "fair")
    if "how far apart" in found.use:
        assert rating.level("distances") in ("good", "fair")
    if "Do not read distances" in found.caution:
        assert rating.level("distances") in ("poor", "chance", "unknown")
    if "Do not read which ones are neighbours" in found.caution:
        assert rating.level("neighbors") in ("poor", "chance")
    if found.recommended is None:
        assert found.use.startswith("No ")
        assert "Use " not in said
    if "distances between groups" in found.caution:
        assert found.groups.level == "yes"
    if found.groups.level == "no":
        assert "No groups" in said
    for sentence in found.choice:
        for kind, question in (("distances", "distances"), ("neighbours", "neighbors")):
            match = re.match(rf"For {kind} look at (.*): ([\d.]+) of .*, here ([\d.]+)", sentence)
            if match:
                assert float(match[2]) > float(match[3])
                assert match[1] != rating.title
                assert float(match[3]) == pytest.approx(
                    rating.grade(question).value * (100 if question == "distances" else 10)
                )
    assert len(found.caveats) <= 3
    assert all(len(caveat.text.split()) <= 25 for caveat in found.caveats)
    assert all(line.endswith(".") and "\n" not in line for line in found.lines)


def test_the_assertion_notices_a_contradiction():
    found = verdict([planted_run("pca", near=0.2, tau=0.9)])
    require_consistent(found)
    wrong = replace(found, use="Use PCA to see which rows are alike.")
    with pytest.raises(AssertionError):
        require_consistent(wrong)


# ---- caveats -------------------------------------------------------------------------------------


def test_doubtful_rows_are_counted_and_named():
    run = planted_run("pca", n=100, near=0.9)
    rows = run.quality.near_neighbors.copy()
    rows[:12] = 0.5
    run = replace(run, quality=replace(run.quality, near_neighbors=rows))
    (found,) = [caveat for caveat in caveats(run) if caveat.kind == "doubtful"]
    assert found.rows == tuple(range(12))
    assert (
        found.text
        == "12% of points are doubtful: fewer than 6 of the 10 points beside them are close in the data."
    )


def test_nothing_is_doubtful_where_random_rows_are_as_near():
    run = planted_run("pca", near=0.0, chance=0.96)
    assert not any(caveat.kind == "doubtful" for caveat in caveats(run))


def test_torn_rows_are_those_whose_neighbors_lie_far_away(rng):
    """A ring cut open: rows at the two ends lose each other."""
    from isentropic import compare

    angle = np.sort(rng.uniform(0, 2 * np.pi, size=200))
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    (run,) = compare(ring, methods={"cut": lambda X: np.column_stack([angle, 0 * angle])})
    (found,) = [caveat for caveat in caveats(run) if caveat.kind == "torn"]
    assert 0 < len(found.rows) <= 20
    assert all(row < 12 or row > 187 for row in found.rows)


def test_few_rows_and_groups_of_one_column_and_seeds_are_told():
    run = planted_run("umap", n=21, near=0.9, repeats=({"seed": 1.0, "near_neighbors(7)": 0.5},))
    groups = GroupAnswer.of(Answered("groups", Named("A", ("sex",)), Named("B", ("sex",)), Named("C")))
    assert [caveat.text for caveat in with_groups(caveats(run), groups)][:2] == [
        "With 21 rows, treat every grade as rough.",
        "Groups A and B are made by the column sex alone.",
    ]
    said = [caveat.text for caveat in caveats(run)]
    assert "Another seed gives another map: over 2 seeds the near neighbours vary from 3 to 6 of 7." in said


@pytest.mark.parametrize(
    ("tested", "level", "sentence"),
    [
        (None, "not tested", "Not tested."),
        (Answered("not tested", reason="below 30 rows"), "not tested", "Not tested: below 30 rows."),
        (Answered("none"), "no", text.groups(0)),
        (GROUPS, "yes", "2 groups, each found again in both halves of the rows."),
        (
            Answered("groups", Named("A", ("sex",)), Named("B", ("sex",))),
            "no",
            "No groups but those that the column sex alone makes.",
        ),
        (
            Answered("groups", Named("A", ("sex", "island")), Named("B", ("sex",))),
            "no",
            "No groups but those that the columns sex and island alone make.",
        ),
    ],
)
def test_the_third_question(tested, level, sentence):
    found = GroupAnswer.of(tested)
    assert (found.level, found.sentence) == (level, sentence)


# ---- what the map shows --------------------------------------------------------------------------


class Shared:
    def __init__(self, name, share, role="feature"):
        self.name, self.share, self.role = name, share, role


def test_few_columns_that_make_most_of_the_distance_are_named():
    columns = [Shared("a", 0.6), *(Shared(f"x{i}", 0.08) for i in range(5)), Shared("label", 0.9, "label")]
    assert list(about_columns(columns)) == [
        "60% of the difference between rows comes from a, of 6 columns. Without: --drop a."
    ]
    assert not list(about_columns([Shared(f"x{i}", 0.1) for i in range(10)]))
    many = [Shared(f"x{i}", 0.04) for i in range(13)] + [Shared(f"y{i}", 0.01) for i in range(48)]
    assert not list(about_columns(many))  # half of it comes from 13 columns, too many to name
    assert not list(about_columns([Shared("a", 0.6), Shared("b", 0.4)]))  # of two columns one is half


def test_one_direction_is_told_where_all_columns_rise():
    assert next(iter(about_one_direction(0.97, True))).startswith(
        "97% of the variance is one direction: all columns"
    )
    assert not list(about_one_direction(0.97, False))
    assert not list(about_one_direction(0.5, True))


# ---- maps that saw the classes, samples, JSON ----------------------------------------------------


def test_maps_that_saw_the_classes_have_sentences_of_their_own():
    real = planted_run(
        "lda", near=0.9, saw_classes=True, label_test=REAL, classifiers={"k-NN": (0.8, 0.7, 0.9)}
    )
    effect = planted_run("nca", near=0.9, saw_classes=True, label_test=EFFECT)
    untested = planted_run("mine", near=0.9, saw_classes=True)
    said = verdict([real, effect, untested]).classes
    assert said[0].startswith(
        "LDA saw the classes and tells them apart: 80% of held-out rows are classified rightly"
    )
    assert said[0].endswith("On the table itself, without a map: k-NN 80%.")
    assert said[1].startswith("An effect of the labels: NCA.")
    assert said[2] == "Not tested with permuted labels, and so not recommended: mine."


def test_of_a_sample_the_headline_is_that_of_all_rows():
    sampled = [planted_run("pca", near=0.9, tau=0.8, rows=np.arange(60))]
    good, poor = (planted_run("pca", n=300, near=near, tau=0.3, n_placed=240) for near in (0.6, 0.1))
    found = verdict([*sampled, good])
    assert found.sampled == (
        "Compared on 60 of 300 rows; the recommended map was fitted on them, and the other 240 rows were "
        "mapped into it, each by itself."
    )
    assert found.caution.startswith("Do not read distances")  # as of all rows
    assert found.ratings[0].level("distances") == "poor"
    assert (
        verdict([*sampled, poor]).caution
        == "This holds for the 60 compared rows; the map of all rows is poor."
    )
    failed = Run("pca", {}, None, 0.0, None, reason="Too large.")
    assert "PCA gave no map of all rows: Too large." in verdict([*sampled, failed]).sampled
    assert verdict(sampled).sampled == "Compared on a sample of 60 rows; no map was fitted on all rows."


def test_a_verdict_does_not_depend_on_the_way_through_json(roll):
    from isentropic import compare

    runs = compare(roll[:150], methods=["pca", "isomap"], tune=False)
    again = verdict([Run.from_json(run.to_json()) for run in runs])
    assert asdict(again) == asdict(verdict(runs))


def test_something_must_be_judged():
    with pytest.raises(InvalidInputError, match="at least one"):
        verdict([])


def test_titles_are_names_that_readers_know():
    """Three letters that few have heard of are expanded in words."""
    for name, title in text.TITLES.items():
        assert title
        if "sdd" in name:
            assert "same-degree distributions" in title, "as docs/guide/sdd.md calls it"
    pairs = itertools.combinations(text.TITLES.values(), 2)
    assert all(one != other for one, other in pairs)
