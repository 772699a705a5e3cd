"""The survey: its cells, its work on a small table, and facts that are computed from outcomes."""

import os

import pytest

from isentropic import METHODS, FileFormatError
from isentropic.experiments.tasks import HONEST, PUBLISHED, Outcome, Refused
from isentropic.tables.folder import SETTING
from isentropic_papers.printed import records
from isentropic_papers.survey.data import DATASETS, survey_file, survey_table
from isentropic_papers.survey.facts import RANKED, first_places
from isentropic_papers.survey.maps import published_map, unhelped_map
from isentropic_papers.survey.measures import MEAN, MEASURES
from isentropic_papers.survey.scores import printed_scores
from isentropic_papers.survey.tables import QUICK, tables

TABLES = {table.name: table for table in tables()}
ALL = (*MEASURES, MEAN)
in_parts = pytest.mark.filterwarnings("ignore::isentropic._core.errors.DisconnectedGraphWarning")
needs_data = pytest.mark.skipif(
    not os.environ.get(SETTING) or survey_file("har") is None, reason=f"needs the survey beside {SETTING}"
)


def of(dataset, method, protocol):
    """The one task."""
    (task,) = (
        task
        for task in TABLES[dataset].tasks(False)
        if task.method == method and task.protocol == protocol and task.dataset == dataset
    )
    return task


def planted(value, span=0.0):
    """An outcome with all measures equal, and a width that ties give them."""
    sides = {"": value, " low": value - span, " high": value + span}
    return Outcome({name + side: number for name in ALL for side, number in sides.items()})


# ---- cells and tasks -----------------------------------------------------------------------------


def test_every_printed_number_is_a_cell():
    assert tuple(TABLES) == (RANKED, *DATASETS)
    rows = records("survey")
    printed = [cell for name in DATASETS for cell in TABLES[name].cells if cell.printed is not None]
    assert len(printed) == len(ALL) * len(rows) == 5 * 416
    assert len({row["technique"] for row in rows}) == 44
    assert printed_scores().shape == (416, 5)


def test_no_method_of_ours_is_given_labels_and_none_is_missing():
    own = {task.method for task in TABLES["har"].tasks(False) if task.work.endswith("own_map")}
    assert own == {m.name for m in METHODS.values() if not m.needs_y and m.family != "wrapper"}


def test_the_quick_form_is_part_of_the_full_one():
    quick, full = TABLES[RANKED].tasks(True), TABLES[RANKED].tasks(False)
    assert {task.dataset for task in quick} == set(QUICK)
    assert set(quick) < set(full)
    assert len(set(full)) == len(full)


def test_a_table_that_is_not_there_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv(SETTING, str(tmp_path / "data"))
    with pytest.raises(
        FileFormatError, match=r"survey/har.npz must be a file.*data.survey.har.npz or .*survey"
    ):
        survey_table("har")
    monkeypatch.delenv(SETTING)
    with pytest.raises(FileFormatError, match=f"Set {SETTING}"):
        survey_table("har")


def test_reasons_name_cells_that_are_there():
    for name in DATASETS:
        methods = {cell.method for cell in TABLES[name].cells}
        everywhere = {row["technique"] for row in records("survey")}
        for dataset, method, _ in TABLES[name].reasons:
            assert dataset in ("", name)
            assert method in {"", *methods, *everywhere}


def test_of_the_printed_columns_without_labels_t_sne_is_best_on_eight_tables():
    means = printed_scores()[MEAN].drop(index="UMAP", level=1)  # what the note says
    best = [means[name].idxmax() for name in DATASETS]
    assert best.count("T-SNE") == 8


# ---- facts ---------------------------------------------------------------------------------------


def outcomes(values, spans=None):
    """Of some methods on har and sms, each with its value."""
    return {
        of(dataset, method, HONEST): planted(value, (spans or {}).get(method, 0.0))
        for dataset in ("har", "sms")
        for method, value in values.items()
    }


def test_the_first_fact_counts_first_places():
    first, _, _ = TABLES[RANKED].facts(outcomes({"pca": 0.999, "parameter-free-sdd": 0.99}))
    assert "above every printed column on 2 of 2 tables (sms pca by 0.2166 from IDMAP; har pca by 0." in first
    assert "It is behind" not in first
    assert "Parameter-free SDD is first by Shepard on 0." in first
    assert "with N = 2 tables" in first
    first, _, _ = TABLES[RANKED].facts(outcomes({"pca": 0.1, "parameter-free-sdd": 0.2}))
    assert "above every printed column on 0 of 2 tables; each" in first
    assert "behind on 2 (har parameter-free-sdd by 0.7389 from T-SNE; sms " in first
    assert "trustworthiness PBC (1.5)" in first  # 2 on har, where t-SNE is first, and 1 on sms


@pytest.mark.parametrize(("more", "words"), [(0.00004, "on 0 of 2"), (0.00006, "on 2 of 2")])
def test_what_the_printed_digits_cannot_tell_is_level(more, words):
    best = printed_scores()[MEAN].drop(index="UMAP", level=1).groupby(level=0).max()
    found = {of(name, "pca", HONEST): planted(best[name] + more) for name in ("har", "sms")}
    first, _, _ = TABLES[RANKED].facts(found)
    assert words in first
    assert ("level with one on har and sms" in first) == (more < 0.00005)


def test_first_places_are_counted_for_any_of_ours_for_one_and_in_any_order():
    found = outcomes({"pca": 0.95, "parameter-free-sdd": 0.99}, {"pca": 0.3, "parameter-free-sdd": 0.02})
    found[of("sms", "pca", HONEST)] = planted(0.999, 0.3)
    mean, every, one, shepard = first_places(found)
    assert (mean.met, mean.of, mean.is_aim) == (2, 2, True)
    assert (every.met, every.is_aim) == (2, False)
    assert (one.met, "pca" in one.what) == (2, True)
    assert shepard.met == 1
    found = outcomes({"pca": 0.95}, {"pca": 0.1})
    mean, every, *_ = first_places(found)
    assert (mean.met, every.met) == (2, 1)  # on har another order of ties could put t-SNE first


def test_the_second_fact_is_the_difference_that_labels_make():
    told = {of("har", "UMAP", PUBLISHED): planted(0.98), of("har", "UMAP", HONEST): planted(0.86)}
    _, second, _ = TABLES[RANKED].facts({**outcomes({"pca": 0.5}), **told})
    assert "har 0.987 / 0.980 / 0.860" in second
    assert "On the mean of 1 tables the labels add .120." in second
    _, second, _ = TABLES[RANKED].facts(outcomes({"pca": 0.5}))
    assert "was not run" in second


@pytest.mark.parametrize(("span", "words"), [(0.0, "No table"), (0.001, "Nowhere"), (0.3, "On har and sms")])
def test_the_third_fact_says_whether_ties_decide(span, words):
    _, _, third = TABLES[RANKED].facts(outcomes({"pca": 0.999, "umap": 0.7}, {"pca": span}))
    assert words in third


def test_without_outcomes_there_are_no_facts():
    assert TABLES[RANKED].facts({}) == ()
    failed = {of("har", "pca", HONEST): Outcome({}, reason="too large")}
    assert TABLES[RANKED].facts(failed) == ()
    assert TABLES[RANKED].ours(failed, HONEST) == {}


def test_ranks_are_among_techniques_that_saw_no_labels():
    ours = TABLES[RANKED].ours(outcomes({"pca": 2.0}), HONEST)
    by_mean = {cell.method: value for cell, value in ours.items() if cell.measure == MEAN}
    assert "UMAP" not in by_mean
    assert by_mean["pca"] == 1.0
    assert sum(by_mean.values()) == pytest.approx(len(by_mean) * (len(by_mean) + 1) / 2)  # no rank is theirs
    assert TABLES[RANKED].ours(outcomes({"pca": 2.0}), PUBLISHED) == {}


# ---- the data ------------------------------------------------------------------------------------


@pytest.mark.data
@needs_data
@in_parts
@pytest.mark.parametrize("technique", ["PCA", "ISO", "K-PCA-P", "K-PCA-R", "K-PCA-S", "LE", "M-LLE"])
def test_published_columns_of_har_are_met_to_four_decimals(technique):
    found = published_map(**of("har", technique, PUBLISHED).arguments)
    printed = printed_scores().loc["har", technique]
    assert found["trustworthiness"] == pytest.approx(printed["trustworthiness"], abs=5e-5)
    assert found["continuity"] == pytest.approx(printed["continuity"], abs=5e-5)
    assert found["neighborhood hit"] == pytest.approx(printed["neighborhood hit"], abs=5e-5)
    assert found["shepard"] == pytest.approx(printed["shepard"], abs=5e-5)


@pytest.mark.data
@needs_data
@in_parts
def test_umap_has_its_published_hit_with_labels_and_not_without():
    printed = printed_scores().loc[("har", "UMAP"), "neighborhood hit"]
    labelled = published_map(**of("har", "UMAP", PUBLISHED).arguments)["neighborhood hit"]
    assert labelled == pytest.approx(printed, abs=0.02)
    assert unhelped_map(**of("har", "UMAP", HONEST).arguments)["neighborhood hit"] < printed - 0.08


@pytest.mark.data
@needs_data
def test_a_map_that_takes_too_long_is_refused_with_a_reason():
    from isentropic_papers.survey.maps import own_map

    with pytest.raises(Refused, match=r"multiscale-sne on the 735 rows of har takes more than 0\.2 s"):
        own_map("har", "multiscale-sne", 0.2)
