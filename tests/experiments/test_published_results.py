"""A small source of our own, run by our machinery: every number, reason and sentence of its page is known."""

from dataclasses import replace

import numpy as np
import pytest

from isentropic.experiments.findings.rankings import ClaimedP, printed_p, rankings
from isentropic.experiments.findings.results import (
    COLUMNS,
    FAR,
    NEAR,
    ROUNDING,
    SAME,
    UNKNOWN,
    agreement,
    as_rows,
    collected,
)
from isentropic.experiments.findings.sentences import chapters_of, survives
from isentropic.experiments.runner import run
from isentropic.experiments.statistics import rank_layout
from isentropic.experiments.tasks import PUBLISHED, ROUNDED, Cell, Task, measured
from published_stub import DATA, METHODS, small_table

ABSENT = "AttributeError: module 'operator' has no attribute 'not_there'"


@pytest.fixture(scope="module")
def result():
    table = small_table()
    return collected(table, run(table.tasks(False)))


def at(result, data, method):
    return next(one for one in result.cells if (one.cell.dataset, one.cell.method) == (data, method))


def test_each_cell_has_its_company(result):
    cell = at(result, "wine", "SGt-SNE")
    assert cell.ours == pytest.approx(0.96)
    assert (cell.honest, cell.low, cell.high) == pytest.approx((0.6105, 0.5605, 0.6605))
    assert (cell.permuted, cell.random) == pytest.approx((0.9105, 0.9505))
    assert at(result, "wine", "PCA").permuted is None


def test_agreement_and_its_reason(result):
    kinds = {(one.cell.dataset, one.cell.method): (one.agreement, one.reason) for one in result.cells}
    assert kinds["iris", "PCA"] == (SAME, "")
    assert kinds["iris", "LDA"] == (NEAR, "Another program.")
    assert kinds["car", "PCA"] == (FAR, "A copy error.")
    assert kinds["lost", "LDA"] == (UNKNOWN, ABSENT)
    assert (result.n_same, len(result.compared)) == (7, 12)
    assert len(result.failures) == 3
    assert result.failures[0] == (
        "lost",
        "PCA",
        PUBLISHED,
        ABSENT,
    )


@pytest.mark.parametrize(
    ("data", "method", "span", "reason"),
    [
        ("iris", "LDA", (-1.0, 2.0), ROUNDING),
        ("iris", "LDA", (-2.0, -1.0), "Another program."),
        ("iris", "LDA", (-2.0, 0.799), ROUNDING),  # .8 is printed, and .002 the tolerance
        ("iris", "LDA", (-2.0, 0.797), "Another program."),
        ("car", "PCA", (-1.0, 2.0), "A copy error."),  # what is known of the cell itself is told first
        ("iris", "PCA", (-1.0, 2.0), ""),  # nothing to explain
    ],
)
def test_rounding_is_the_reason_where_it_reaches_the_printed_number(data, method, span, reason):
    table = small_table()
    task = Task("s", "1", data, method, ROUNDED, "builtins:dict", {"mean low": span[0], "mean high": span[1]})
    table = replace(table, tasks=lambda quick, others=table.tasks: (*others(quick), task))
    result = collected(table, run(table.tasks(False)))
    cell = at(result, data, method)
    told = [one for one in survives([result], ()) if one.startswith("Of those that differ")]
    assert told == (["Of those that differ 1 may be rounding alone."] if reason == ROUNDING else [])
    assert (cell.least, cell.most, cell.reason) == (*span, reason)


@pytest.mark.parametrize(("ours", "kind"), [(0.96, SAME), (0.9601, NEAR), (0.97, NEAR), (0.9701, FAR)])
def test_what_counts_as_the_same(ours, kind):
    assert agreement(0.95, ours, 0.01) == kind


def test_large_numbers_are_near_by_their_share():
    assert [agreement(50.0, ours, 0.1) for ours in (50.1, 51.0, 51.1)] == [SAME, NEAR, FAR]


def test_times_are_shown_and_not_compared():
    table = small_table()
    cells = tuple(replace(cell, tolerance=float("inf")) for cell in table.cells)
    table = replace(table, cells=cells, ours=measured(cells, {"accuracy": "mean"}))
    assert collected(table, run(table.tasks(True)), True).compared == ()


def test_the_quick_form_reads_its_own_tasks():
    table = small_table()
    outcomes = run(table.tasks(False))
    assert len(collected(table, outcomes, True).compared) == 6
    assert collected(table, {}).compared == ()


def test_rounding_comes_before_what_is_not_explained():
    table = small_table()
    task = Task("s", "1", "iris", "LDA", ROUNDED, "builtins:dict", {"mean low": 0.7, "mean high": 0.9})
    table = replace(
        table,
        reasons={("iris", "LDA", ""): "Not explained: so far."},
        tasks=lambda quick, others=table.tasks: (*others(quick), task),
    )
    outcomes = run(table.tasks(False))
    assert at(collected(table, outcomes), "iris", "LDA").reason == ROUNDING
    del outcomes[task]
    assert at(collected(table, outcomes), "iris", "LDA").is_open


def test_what_was_not_run_is_told():
    """One of each kind is left: a cell has no number, another one no honest number, and both are counted."""
    table = small_table()
    left = [one for one in table.tasks(False) if (one.dataset, one.protocol) == ("wine", PUBLISHED)]
    left += [one for one in table.tasks(False) if (one.dataset, one.method) == ("iris", "LDA")]
    found = {one: outcome for one, outcome in run(table.tasks(False)).items() if one not in left}
    part = collected(table, found, left=left)
    said = {(one.cell.dataset, one.cell.method): one for one in part.cells}
    assert len(part.left) == len(left) == 5
    assert (said["wine", "PCA"].ours, said["wine", "PCA"].reason) == (None, "Not run.")
    assert said["wine", "PCA"].honest is not None
    assert said["iris", "LDA"].reason == "Not run."
    assert said["lost", "PCA"].reason.startswith("AttributeError")
    assert said["car", "PCA"].reason == "A copy error."
    (chapter,) = chapters_of([table], found, left=left)
    assert chapter.sentences[0].startswith("Not all was run: 30 of 35 pieces of work are done")
    assert chapters_of([table], run(table.tasks(False)))[0].sentences[0].startswith("Of 12 printed")


def test_rows_for_a_file(result):
    rows = as_rows([result])
    assert len(rows) == 15
    assert all(len(row) == len(COLUMNS) for row in rows)
    first = dict(zip(COLUMNS, rows[0], strict=True))
    assert (first["source"], first["dataset"], first["printed"], first["agreement"]) == (
        "small",
        "iris",
        0.7,
        SAME,
    )


# ---- ranks ---------------------------------------------------------------------------------------


def test_every_column_is_ranked_over_the_data_that_are_complete(result):
    found = {one.column: one for one in rankings([result])}
    assert found["printed"].blocks == "5 data sets"
    assert found["ours"].blocks == found["honest"].blocks == "4 data sets"
    assert dict(zip(METHODS, found["printed"].test.average_ranks, strict=True))["SGt-SNE"] == 1.0
    assert dict(zip(METHODS, found["honest"].test.average_ranks, strict=True)) == {
        "PCA": 2.0, "LDA": 1.0, "SGt-SNE": 3.0
    }  # fmt: skip
    assert found["honest"].means[1] == pytest.approx(0.82 + 0.01 * np.mean([0, 1, 2, 4]))


def test_cells_of_one_data_set_are_one_block():
    """Three classifiers on four data sets are ranked over 12 cells, and over 4 data sets."""
    random = np.random.default_rng(0)
    cells = tuple(
        Cell(data, method, judge, round(random.uniform(), 3))
        for data in DATA[:4]
        for judge in ("KNN", "NB", "DT")
        for method in METHODS
    )
    table = replace(small_table(), cells=cells, tasks=lambda quick: (), ours=measured(cells))
    over_cells, over_data = rankings([collected(table, {})])
    assert (over_cells.blocks, over_data.blocks) == ("12 cells of 4 data sets", "4 data sets")
    assert (over_cells.by_data, over_data.by_data) == (False, True)
    assert over_cells.difference == pytest.approx(over_data.difference / 3**0.5)
    means = [np.mean([c.printed for c in cells if c.method == method]) for method in METHODS]
    assert over_data.means == pytest.approx(means)


def test_a_method_with_few_numbers_does_not_cost_the_others_their_blocks():
    table = small_table()
    cells = (*table.cells, Cell("iris", "UMAP", "accuracy", 0.5))
    (found,) = rankings([collected(replace(table, cells=cells, ours=measured(cells)), {})])
    assert (found.blocks, found.test.methods) == ("5 data sets", METHODS)


def test_what_ranks_nothing_is_left_out():
    table = small_table()
    two = tuple(cell for cell in table.cells if cell.method != "LDA")
    assert rankings([collected(replace(table, cells=two, ours=measured(two)), {})]) == ()
    stress = tuple(replace(cell, measure="stress") for cell in table.cells)
    assert rankings([collected(replace(table, cells=stress, ours=measured(stress)), {})]) == ()


def test_p_values_of_a_source_stand_beside_what_its_numbers_give(result):
    found = rankings([result], together=(("1 of one", ("1",)), ("2", ("2",))))
    assert {one.name for one in found} == {"small:1 of one"}
    claims = (
        ClaimedP("1 of one", "Friedman", "all methods", "< 1e-3"),
        ClaimedP("1 of one", "Nemenyi", "SGtSNE vs PCA", "0.03"),
        ClaimedP("1 of one", "Nemenyi", "SGtSNE vs UMAP", "0.5"),
        ClaimedP("2", "Nemenyi", "LDA vs PCA", "0.03"),
    )
    every, pair, unknown = printed_p(found, claims, {"SGtSNE": "SGt-SNE"})
    ranking = next(one for one in found if one.column == "printed")
    assert (every.as_defined, every.by_data) == (ranking.test.friedman_p,) * 2
    assert pair.as_defined == ranking.nemenyi[2, 0] > pair.uncorrected == ranking.uncorrected[2, 0]
    assert (unknown.uncorrected, unknown.as_defined, unknown.by_data) == (None, None, None)
    assert printed_p(found, claims)[1].as_defined is None
    assert (every.claims, every.lost, pair.claims, unknown.claims) == (True, False, True, False)
    assert (pair.n_blocks, pair.n_data) == (5, 5)


def test_layout_of_many_and_of_equal_ranks():
    layout = rank_layout([f"m{i}" for i in range(30)], [15.5] * 30, 3.0)
    assert len(layout.ticks) <= 16
    assert layout.bars == ((0.5, 0.5),)
    assert {mark.row for mark in layout.marks if mark.left} == set(range(15))


# ---- words ---------------------------------------------------------------------------------------


def test_sentences_say_who_leads_and_who_does_not(result):
    said = survives([result], rankings([result]))
    assert said[0] == (
        "Of 12 printed numbers that were computed again, 7 are met; 4 are off by at most .02, and 1 by more."
    )
    printed, again, honest = said[1:4]
    assert printed.startswith(
        "small:1 as printed (5 data sets): SGt-SNE is first with mean .970 and mean rank 1.00"
    )
    assert ", before LDA with .820 and 2.00; it differs from" in printed
    assert again.startswith("small:1 by the same protocol run again (4 data sets): SGt-SNE is first")
    assert "on rows that were not seen (4 data sets): LDA is first" in honest
    assert "SGt-SNE, printed as first, has mean .618 and mean rank 3.00 (p = " in honest
    assert "against the first; .96" in honest  # what is printed on the four data sets that are here
    null, random, absent = said[4:]
    assert null.startswith("small:1, SGt-SNE with labels at random, which mean nothing: accuracy .918 ± ")
    assert "over 4 data sets (.900 to .941); printed .96" in null
    assert "have mean .958 where .96" in random
    assert random.endswith("is printed for SGt-SNE (4 data sets, correlation 1.000).")
    assert absent == "3 pieces of work gave nothing (lost): each has its reason below."


def test_one_is_said_as_one():
    table = small_table()
    some = {
        task: o
        for task, o in run(table.tasks(False)).items()
        if task.method == "PCA" or task.dataset == "iris"
    }
    reasons = {("iris", "LDA", ""): "Not explained: at all.", ("car", "PCA", ""): "A copy error."}
    said = survives([collected(replace(table, reasons=reasons), some)], ())
    assert said[:2] == (
        "Of 6 printed numbers that were computed again, 4 are met; 1 is off by at most .02, and 1 by more.",
        "Of those that differ 1 is not explained.",
    )
    assert said[-1] == "1 piece of work gave nothing (lost): each has its reason below."


def test_tables_that_rank_nothing_tell_what_honest_rows_give():
    table = small_table()
    cells = tuple(replace(cell, measure="1-NN") for cell in table.cells)
    table = replace(
        table,
        cells=cells,
        ours=measured(cells, {"1-NN": "mean"}),
        facts=lambda found: ("A fact.",),
        honest="without labels",
    )
    (chapter,) = chapters_of([table], run(table.tasks(False)))
    assert chapter.rankings == ()
    line = next(one for one in chapter.sentences if one.startswith("1-NN: mean"))
    assert line.startswith(
        "1-NN: mean .834 as printed, .724 without labels (the 12 cells of PCA, LDA, SGt-SNE "
    )
    assert "that have both, difference -.110 ± " in line
    assert chapter.sentences.index("A fact.") < chapter.sentences.index(line)
