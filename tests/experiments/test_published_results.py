"""A small source of our own, run by our machinery: every number, reason and sentence of its page is known."""

from dataclasses import replace

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.experiments import catalogue
from isentropic.experiments.catalogue import SOURCES, tables_of
from isentropic.experiments.chapters import chapters_of
from isentropic.experiments.printed import measured
from isentropic.experiments.printed_p import printed_p
from isentropic.experiments.rank_layout import rank_layout
from isentropic.experiments.rankings import rankings
from isentropic.experiments.results import (
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
from isentropic.experiments.running import run
from isentropic.experiments.sentences import survives
from isentropic.experiments.values import (
    HONEST,
    PERMUTED,
    PUBLISHED,
    RANDOM,
    ROUNDED,
    Cell,
    Outcome,
    Task,
)
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


def test_printed_p_values_are_not_those_of_the_test_that_they_name():
    """001, Table I: what is called Nemenyi's test is a normal test without correction."""
    (found,) = rankings([collected(one, {}) for one in tables_of("001:I")])
    lines = {line.pair: line for line in printed_p([found])}
    assert found.difference == pytest.approx(1.686, abs=5e-4)
    line = lines["ISOMAP-KL vs Kernel PCA"]
    assert float(line.printed) == pytest.approx(line.uncorrected, abs=5e-5)
    assert line.as_defined == pytest.approx(0.326, abs=5e-4)
    pairs = [line for pair, line in lines.items() if " vs " in pair]
    assert len(pairs) == 5
    assert all(float(line.printed) == pytest.approx(line.uncorrected, rel=0.01) for line in pairs)
    assert lines["all methods"].as_defined == pytest.approx(2.13e-4, rel=0.01)
    assert {pair for pair, line in lines.items() if line.lost} == {
        "ISOMAP-KL vs Kernel PCA", "ISOMAP-KL vs ISOMAP", "ISOMAP-KL vs Laplacian Eigenmaps"
    }  # fmt: skip
    assert survives([], [], tuple(lines.values())) == (
        "Of 6 printed p-values below .05, 3 are not below it by the test that they name, with one block for "
        "each data set; 5 of 5 for pairs are those of a normal test without correction.",
    )
    assert replace(line, printed="< 1e-3").claims
    assert not replace(line, printed="0.965").claims


def test_eighty_cells_of_ten_tables_are_not_eighty_tables():
    found = rankings([collected(one, {}) for name in ("001:II", "001:III") for one in tables_of(name)])
    lines = {line.pair: line for line in printed_p(found)}
    line = lines["ISOMAP-KL vs PCA"]
    assert (line.n_blocks, line.n_data) == (80, 10)
    assert line.as_defined < 1e-11 < 0.05 < line.by_data
    assert found[0].difference == pytest.approx(0.843, abs=5e-4)


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


# ---- the catalogue -------------------------------------------------------------------------------


def test_tables_by_their_words():
    assert [table.name for table in tables_of("002:5.3")] == ["5.3"]
    assert [table.name for table in tables_of("000:Table7")] == ["7"]
    assert len(tables_of("002")) >= 11
    with pytest.raises(InvalidInputError, match="source must be one of 000, 001"):
        tables_of("005")
    with pytest.raises(InvalidInputError, match=r"table must be one of 002:5.1"):
        tables_of("002:9")


def test_a_source_that_is_not_here_is_told(monkeypatch):
    absent = replace(SOURCES["002"], target="isentropic.experiments.nowhere:tables")
    monkeypatch.setattr(catalogue, "SOURCES", {"002": absent})
    with pytest.raises(InvalidInputError, match="part of this version"):
        tables_of("002")
    assert tables_of("all") == ()


def test_every_table_of_the_catalogue_is_sound():
    """Cells differ, names are unique in a source, tasks can be said in JSON."""
    for source in (one for one in SOURCES.values() if one.is_here):
        tables = source.tables()
        assert len({table.name for table in tables}) == len(tables)
        for table in tables:
            assert len(set(table.cells)) == len(table.cells)
            tasks = table.tasks(True)
            assert {task.protocol for task in tasks} <= {PUBLISHED, HONEST, PERMUTED, RANDOM, ROUNDED}
            assert len({task.words() for task in tasks}) == len(tasks)
            blank = {task: Outcome({}) for task in tasks}
            assert not collected(table, blank, True).compared
