"""The packaged tables: all there, read as printed, with what is known to be wrong in them."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

from isentropic.experiments.findings.results import UNEXPLAINED
from isentropic.experiments.studies import sources
from isentropic.experiments.tasks import (
    HONEST,
    PERMUTED,
    PUBLISHED,
    RANDOM,
    ROUNDED,
    Cell,
    Outcome,
    Task,
    measured,
    merged,
)
from isentropic_papers.entropic import article as entropic_article
from isentropic_papers.entropic import thesis as entropic_thesis
from isentropic_papers.entropic.sets import ARTICLE, TABLE_6, TABLE_7, TABLE_9
from isentropic_papers.entropic.tasks import RAW
from isentropic_papers.isomap import thesis as isomap_thesis
from isentropic_papers.printed import as_printed, note, printed, records

TABLES = {
    (table.source, table.name): table
    for source in (entropic_thesis, entropic_article, isomap_thesis)
    for table in source.tables()
}


def task(dataset="iris", method="PCA", protocol=PUBLISHED, **arguments):
    return Task("0", "1", dataset, method, protocol, "some:work", arguments)


# ---- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "count"),
    [("000_table6", 136), ("000_table7", 252), ("000_table9", 175), ("001_table1", 132), ("001_table2", 240)],
)
def test_every_printed_number_is_packaged(table, count):
    assert len(printed(table)) == count


def test_summaries_are_told_apart():
    rows = printed("000_table7")
    assert sum(row.is_summary for row in rows) == 28
    assert {row.dataset for row in rows if not row.is_summary} == set(TABLE_7)


@pytest.mark.parametrize(
    "table", ["000_table6", "000_table7", "000_table8", "000_table9", "001_table1", "001_table4"]
)
def test_printed_averages_are_those_of_the_printed_columns(table):
    """A number that was lost or exchanged on the way here would move them."""
    parts = ("001_table2", "001_table3") if table == "001_table4" else (table,)
    rows = [row for part in parts for row in printed(part) if not row.is_summary and row.value is not None]
    for row in printed(table):
        if row.dataset == "Average":
            column = [one.value for one in rows if one.method == row.method]
            assert math.fsum(column) / len(column) == pytest.approx(row.value, abs=0.00051), row.method


def test_blank_cells_have_no_value():
    (blank,) = [row for row in printed("000_table6") if row.value is None]
    assert (blank.dataset, blank.method) == ("parity5", "LDA")


def test_the_two_copies_of_002_are_told():
    rows = [row for name in ("002_table5_7", "002_table5_11") for row in printed(name) if row.erratum]
    assert [(row.dataset, row.parameter, row.metric) for row in rows] == [
        ("Digits", "R10", "Kruskal's stress"),
        ("WDBC", "R10", "1-NN"),
    ]
    reasons = TABLES["002", "5.11"].reasons
    assert "copy" in reasons["WDBC", "ISOMAP R10", "1-NN"]


def test_every_space_has_best_parameters():
    known = {(row["table"], row["parameter"]) for row in records("002_best_parameters")}
    spaces = {
        (row.table, row.parameter) for number in range(1, 13) for row in printed(f"002_table5_{number}")
    }
    assert known == spaces


def test_notes_are_packaged():
    for table in TABLES.values():
        first, _, rest = table.note.partition("\n\n")  # what survives, then the details
        assert not first.startswith("#")
        assert rest.startswith("## What the table")
    with pytest.raises(FileNotFoundError):
        note("nothing")


# ---- tables ----------------------------------------------------------------------------------------


def test_sources_have_their_tables():
    assert [name for source, name in TABLES if source == "002"] == [f"5.{n}" for n in range(1, 13)]
    assert [name for source, name in TABLES if source == "001"] == ["I", "II", "III", "IV"]
    assert [name for source, name in TABLES if source == "000"] == [
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "11",
        "12",
    ]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: f"{table.source}:{table.name}")
def test_every_cell_has_work_that_gives_it(table):
    """And every task can be said in JSON; the quick form has a part of the same cells."""
    summary = table.name in ("IV", "5")
    for quick in (False, True):
        tasks = table.tasks(quick)
        assert len({one.words() for one in tasks}) == len(tasks) > 0
        assert all(json.loads(json.dumps(one.arguments)) == one.arguments for one in tasks)
        assert {one.protocol for one in tasks} <= {PUBLISHED, HONEST, PERMUTED, RANDOM, ROUNDED}
        known = {(one.dataset, one.method) for one in tasks if one.protocol == PUBLISHED}
        if not quick and not summary:
            assert {(cell.dataset, cell.method) for cell in table.cells if cell.method != RAW} == known
    assert len(set(table.cells)) == len(table.cells)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: f"{table.source}:{table.name}")
def test_every_reason_is_of_a_cell(table):
    cells = table.cells
    for dataset, method, measure in table.reasons:
        assert any(
            dataset in ("", cell.dataset) and method in ("", cell.method) and measure in ("", cell.measure)
            for cell in cells
        ), (dataset, method, measure)


def test_cells_of_002_that_are_compared():
    cells = [cell for (source, _), table in TABLES.items() if source == "002" for cell in table.cells]
    compared = Counter(
        cell.measure for cell in cells if cell.printed is not None and not math.isinf(cell.tolerance)
    )
    assert compared == {"1-NN": 51, "Score": 51, "Kruskal's stress": 39, "Data size": 51}


def test_names_of_data_are_those_of_the_tables():
    assert {row.dataset for row in printed("000_table6") if not row.is_summary} == set(TABLE_6)
    for name in ("000_table8", "000_table9", "000_table11", "000_table12"):
        assert {row.dataset for row in printed(name) if not row.is_summary} == set(TABLE_9)
    for name in ("001_table1", "001_table2", "001_table3"):
        assert {row.dataset for row in printed(name) if not row.is_summary} <= set(ARTICLE)


# ---- reading ours ----------------------------------------------------------------------------------


def test_as_printed_is_half_a_unit():
    assert abs(0.8647 - 0.87) > as_printed(2)
    assert abs(0.865 - 0.87) <= as_printed(2)


def test_measures_of_several_tasks_are_one_row():
    outcomes = {
        task(classifiers=["KNN"]): Outcome({"KNN": 0.5}),
        task(classifiers=["GPC"]): Outcome({"GPC": 0.7}),
        task(protocol=HONEST): Outcome({"KNN": 0.1}),
    }
    assert merged(outcomes, PUBLISHED) == {("iris", "PCA"): {"KNN": 0.5, "GPC": 0.7}}
    cells = [Cell("iris", "PCA", name) for name in ("KNN", "GPC", "SVM")]
    assert measured(cells)(outcomes, PUBLISHED) == {cells[0]: 0.5, cells[1]: 0.7}
    assert measured(cells, {"SVM": "KNN"})(outcomes, HONEST) == {cells[0]: 0.1, cells[2]: 0.1}


def test_a_task_that_gave_nothing_gives_no_cell():
    cells = [Cell("iris", "PCA", "KNN")]
    assert measured(cells)({task(): Outcome({}, reason="not here")}, PUBLISHED) == {}


def test_silhouettes_without_a_printed_k_are_the_nearest():
    table = TABLES["001", "I"]
    cell = next(one for one in table.cells if (one.dataset, one.method) == ("tae", "ISO-KL"))
    given = task("tae", "ISO-KL")
    curve = {"silhouette at 10": 0.0, "silhouette at 110": -0.117, "silhouette": 0.0}
    assert table.ours({given: Outcome(curve)}, PUBLISHED) == {cell: -0.117}


def test_the_summary_waits_for_all_eighty():
    table, parts = TABLES["001", "IV"], (TABLES["001", "II"], TABLES["001", "III"])
    outcomes = {
        Task(
            "001", part.name, cell.dataset, cell.method, PUBLISHED, "some:work", {"of": cell.measure}
        ): Outcome({cell.measure: cell.printed})
        for part in parts
        for cell in part.cells
    }
    for cell, value in table.ours(outcomes, PUBLISHED).items():
        assert value == pytest.approx(cell.printed, abs=0.0006)
    assert len(table.ours(outcomes, PUBLISHED)) == 12
    one_less = dict(list(outcomes.items())[1:])
    assert len(table.ours(one_less, PUBLISHED)) == 10


@pytest.mark.parametrize("source", sources())
def test_a_reason_that_is_none_says_so_first(source):
    """What is called not explained, or not reproduced, is counted as open."""
    for table in sources()[source].tables():
        for reason in table.reasons.values():
            if "explained" in reason or "reproduced" in reason:
                assert reason.startswith(UNEXPLAINED), reason
