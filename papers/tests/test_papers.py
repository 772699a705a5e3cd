"""The five texts as sources: their tables, aims and p-values, on the page and on the command line."""

import json
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from isentropic import InvalidInputError
from isentropic.cli import app
from isentropic.experiments.findings.rankings import printed_p, rankings
from isentropic.experiments.findings.results import collected, reached
from isentropic.experiments.findings.sentences import chapters_of, survives
from isentropic.experiments.studies import sources, tables_of
from isentropic.experiments.tasks import HONEST, PERMUTED, PUBLISHED, RANDOM, ROUNDED, Outcome
from isentropic.report import tables_page
from isentropic_papers.survey.facts import RANKED
from isentropic_papers.survey.measures import MEAN, MEASURES
from isentropic_papers.survey.scores import ALL

SOURCES = sources()
PAPERS = ("000", "001", "002", "004", "survey")


def test_the_five_texts_are_found():
    assert set(PAPERS) <= set(SOURCES)


def test_every_table_of_the_catalogue_is_sound():
    """Cells differ, names are unique in a source, tasks can be said in JSON."""
    for source in SOURCES.values():
        tables = source.tables()
        assert len({table.name for table in tables}) == len(tables)
        for table in tables:
            assert len(set(table.cells)) == len(table.cells)
            tasks = table.tasks(True)
            assert {task.protocol for task in tasks} <= {PUBLISHED, HONEST, PERMUTED, RANDOM, ROUNDED}
            assert len({task.words() for task in tasks}) == len(tasks)
            blank = {task: Outcome({}) for task in tasks}
            assert not collected(table, blank, True).compared


def test_tables_by_their_words():
    assert [table.name for table in tables_of("002:5.3")] == ["5.3"]
    assert [table.name for table in tables_of("000:Table7")] == ["7"]
    assert len(tables_of("002")) >= 11
    with pytest.raises(InvalidInputError, match="source must be one of 000, 001"):
        tables_of("005")
    with pytest.raises(InvalidInputError, match=r"table must be one of 002:5.1"):
        tables_of("002:9")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_published_protocol_comes_with_what_rounding_does(tmp_path):
    (table,) = tables_of("001:III")
    for option, protocols in (("--published-only", {PUBLISHED, ROUNDED}), ("--honest-only", {HONEST})):
        said = run("reproduce", "001:III", option, "--minutes", 0, "--out", tmp_path / "a.html", "--json")
        found = json.loads(said.stdout)  # where the data are not here, their absence is a result
        wanted = sum(task.protocol in protocols for task in table.tasks(False))
        assert found["results"] + found["left"] == wanted


# ---- p-values --------------------------------------------------------------------------------------


def claims_of(source, found):
    return printed_p(found, SOURCES[source].p_values(), SOURCES[source].other_names)


def test_printed_p_values_are_not_those_of_the_test_that_they_name():
    """001, Table I: what is called Nemenyi's test is a normal test without correction."""
    (found,) = rankings([collected(one, {}) for one in tables_of("001:I")], together=SOURCES["001"].groups)
    lines = {line.pair: line for line in claims_of("001", [found])}
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
    results = [collected(one, {}) for name in ("001:II", "001:III") for one in tables_of(name)]
    found = rankings(results, together=SOURCES["001"].groups)
    lines = {line.pair: line for line in claims_of("001", found)}
    line = lines["ISOMAP-KL vs PCA"]
    assert (line.n_blocks, line.n_data) == (80, 10)
    assert line.as_defined < 1e-11 < 0.05 < line.by_data
    assert found[0].difference == pytest.approx(0.843, abs=5e-4)


# ---- aims ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", PAPERS)
def test_every_aim_is_of_numbers_that_are_there(source):
    tables = SOURCES[source].tables()
    assert SOURCES[source].aims
    for aim in SOURCES[source].aims:
        assert set(aim.tables) <= {table.name for table in tables}
        cells = [
            cell for table in tables if not aim.tables or table.name in aim.tables for cell in table.cells
        ]
        for names, field in ((aim.data, "dataset"), (aim.methods, "method"), (aim.measures, "measure")):
            assert set(names) <= {getattr(cell, field) for cell in cells}, aim


def test_first_places_count_on_all_ten_tables_only():
    table = next(one for one in SOURCES["survey"].tables() if one.name == RANKED)
    own = [one for one in table.tasks(False) if (one.method, one.protocol) == ("pca", HONEST)]
    best = Outcome({f"{name}{end}": 1.1 for name in (*MEASURES, MEAN) for end in ("", " low", " high")})

    def firsts(tasks):
        outcomes = dict.fromkeys(tasks, best)
        results = [collected(table, outcomes)]
        return reached(SOURCES["survey"].aims, results) + SOURCES["survey"].more_aims(results, outcomes)

    few, many = firsts(own[:3]), firsts(own)
    told = [(3, 3, "", True), (3, 3, "", True)]  # in any order of ties, and by one method alone
    assert [(one.met, one.of, one.must, one.holds) for one in few] == [
        (3, 3, "", True),
        *told,
        (0, 3, "", True),
    ]
    told = [(10, 10, "", True), (10, 10, "", True)]
    assert [(one.met, one.of, one.must, one.holds) for one in many] == [
        (10, 10, "6", True),
        *told,
        (0, 10, "6", False),
    ]


# ---- the page --------------------------------------------------------------------------------------


def test_ranks_of_the_survey_are_sorted_and_its_facts_come_first():
    table = next(one for one in SOURCES["survey"].tables() if one.name == RANKED)
    value = {"pca": 1.2, "lpp": 1.1, "isomap": 1.3}
    outcomes = {
        task: Outcome(dict.fromkeys((*ALL, f"{MEAN} low", f"{MEAN} high"), value[task.method]))
        for task in table.tasks(False)
        if task.protocol == HONEST and task.method in value
    }
    chapters = chapters_of([table], outcomes, sources=SOURCES)
    page = tables_page("t", chapters, {})
    lines = re.findall(r'<th scope="row">([^<]+)</th><td', page[page.index('class="numbers"') :])
    assert lines[:3] == ["isomap", "pca", "lpp"]
    assert len(lines) > 30
    assert chapters[0].sentences[0].startswith("Without labels")
    assert len(set(chapters[0].sentences)) == len(chapters[0].sentences)


@pytest.mark.parametrize(
    ("source", "words"),
    [("004", "the range of three seeds"), ("survey", "between the worst and the best order of ties")],
)
def test_brackets_are_told_for_what_they_are(source, words):
    tables = SOURCES[source].tables()
    assert {table.interval for table in tables} == {words}
    page = tables_page("t", chapters_of(tables[-1:], made_up(tables[-1])), {})
    assert f"honest, {tables[-1].honest} (in brackets {words})" in page


def made_up(table):
    names = [f"{cell.measure}{end}" for cell in table.cells for end in ("", " low", " high")]
    return {task: Outcome(dict.fromkeys(names, 0.5)) for task in table.tasks(False)}
