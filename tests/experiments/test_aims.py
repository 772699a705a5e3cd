"""What a source must give again: counted from its numbers, and met by nothing that was not computed."""

from dataclasses import replace

import pytest

from isentropic.experiments.findings.results import Aim, Reached, collected, reached
from isentropic.experiments.findings.sentences import chapters_of
from isentropic.experiments.runner import run
from published_stub import SOURCE, small_table


@pytest.fixture(scope="module")
def result():
    table = small_table()
    return collected(table, run(table.tasks(False)))


def counts(aim, result):
    cells = aim.holds(result)
    return sum(map(aim.is_met, cells)), len(cells)


@pytest.mark.parametrize(
    ("aim", "met", "of"),
    [
        (Aim("all"), 7, 12),
        (Aim("near"), 11, 12),
        (Aim("told"), 12, 12),
        (Aim("PCA", methods=("PCA",)), 3, 4),
        (Aim("a table", tables=("1",), data=("iris",)), 2, 3),
        (Aim("another table", tables=("2",)), 0, 0),
        (Aim("another measure", measures=("kappa",)), 0, 0),
    ],
    ids=lambda value: value.what if isinstance(value, Aim) else "",
)
def test_numbers_are_counted(result, aim, met, of):
    """Of the stub: LDA is off by .01, PCA on car by .2, and one data set is not here."""
    within, reasons = {"near": 0.01, "told": None}.get(aim.what), aim.what == "told"
    aim = Aim(aim.what, 0, aim.tables, aim.data, aim.methods, aim.measures, within, reasons)
    assert counts(aim, result) == (met, of)


def test_what_is_not_explained_is_no_reason(result):
    table = replace(
        result.table, reasons={**result.table.reasons, ("car", "PCA", ""): "Not explained: so far."}
    )
    open_one = collected(table, run(table.tasks(False)))
    assert counts(Aim("told", reasons=True), open_one) == (11, 12)
    assert [one.cell.dataset for one in open_one.cells if one.is_open] == ["car"]


def test_some_may_differ(result):
    aims = (Aim("a", 5), Aim("b", 4), Aim("c"), Aim("d", None), Aim("none", tables=("2",)))
    assert reached(aims, [result]) == (
        Reached("a", 7, 12, "all but 5", True),
        Reached("b", 7, 12, "all but 4", False),
        Reached("c", 7, 12, "all", False),
        Reached("d", 7, 12, "", True),
    )


def test_a_source_may_count_more_than_numbers_of_tables():
    table = small_table()
    told = Reached("More", 1, 2, "1", True)
    source = replace(SOURCE, aims=(Aim("all", 5),), more_aims=lambda results, outcomes: (told,))
    (chapter,) = chapters_of([table], run(table.tasks(False)), sources={"small": source})
    assert chapter.reached == (Reached("all", 7, 12, "all but 5", True), told)
