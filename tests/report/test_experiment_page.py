"""The page of published tables: every number is on it, escaped, and nothing is fetched or run."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from isentropic.experiments.findings.results import Reached
from isentropic.experiments.findings.sentences import chapters_of
from isentropic.experiments.runner import run
from isentropic.experiments.tasks import ROUNDED, Cell, Task, measured
from isentropic.report import tables_page
from isentropic.report.experiment_page import as_html
from published_stub import small_table

FACTS = {"command": "isentropic reproduce small", "seconds": 3.2, "quick": False, "date": "2024-01-01"}


class Words(HTMLParser):
    """The text of a page, and the balance of its elements."""

    VOID = ("meta", "link", "line", "polyline", "br")

    def __init__(self, page):
        super().__init__()
        self.text, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def __contains__(self, words):
        return words in " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def chapters():
    table = small_table()
    return chapters_of([table], run(table.tasks(False)))


@pytest.fixture(scope="module")
def page(chapters):
    return tables_page("A small source", chapters, FACTS)


def test_the_page_has_every_number_and_its_reason(page):
    words = Words(page)
    assert words.open == []
    for text in (
        ".95",
        ".960",
        ".710 (.660–.760)",
        "A copy error.",
        "Another program.",
        "7 of 12 printed numbers are met: ",
    ):
        assert text in words
    assert "has no attribute 'not_there'" in words
    assert "isentropic reproduce small" in words
    assert "Friedman p =" in words
    assert "Means, p-values and effects against SGt-SNE" in words
    assert "4–0–0 1.00" in words  # on four data sets the honest leader beats each of the others
    first = words.text.index("What survives")
    after = " ".join(words.text[first:])
    assert after.index("Of 12 printed numbers") < after.index("Every number")


def test_cells_are_coloured_by_agreement(page):
    assert page.count('<td class="same"') == 7
    assert page.count('<td class="near"') == 4
    assert page.count('<td class="far"') == 1


def test_the_page_is_the_same_each_time_and_fetches_nothing(page, chapters):
    assert tables_page("A small source", chapters, FACTS) == page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "http" not in page.replace("http-equiv", "")


def test_words_of_tables_cannot_steer_the_page():
    evil = "<script>alert(1)</script>"
    table = small_table()
    cells = tuple(replace(cell, method=f"{cell.method}{evil}") for cell in table.cells)
    table = replace(
        table, cells=cells, ours=measured(cells), title=evil, note=f"{evil} **{evil}**",
        reasons={(cell.dataset, cell.method, "accuracy"): evil for cell in cells},
    )  # fmt: skip
    page = tables_page(evil, chapters_of([table], {}), {"command": evil})
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 20
    assert Words(page).open == []


def test_a_long_side_goes_down_the_page():
    cells = tuple(Cell("one", f"m{i}", measure, 0.5) for i in range(9) for measure in ("1-NN", "Score"))
    table = replace(small_table(), cells=cells, ours=measured(cells), note="", reasons={})
    page = tables_page("t", chapters_of([table], {}), {})
    assert page.count('<th scope="row">m') == 9
    assert '<th scope="col">Score</th>' in page


def test_notes_are_text_with_a_little_form():
    text = "# Head\nA *b* **c** `d`\nof e.\n\n- one\n  more\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert as_html(text).splitlines() == [
        "<h4>Head</h4>",
        "<p>A <em>b</em> <strong>c</strong> <code>d</code> of e.</p>",
        "<ul><li>one more</li><li>two</li></ul>",
        "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>",
    ]
    assert as_html("") == ""
    assert as_html("2 * 3 * 4 <b>") == "<p>2 * 3 * 4 &lt;b&gt;</p>"


def test_a_note_that_tables_share_stands_once():
    table = small_table()
    chapters = chapters_of([table, replace(table, name="2")], {})
    assert tables_page("t", chapters, {}).count("First <em>words</em>.") == 1


def test_the_first_paragraph_of_a_note_says_what_survives_at_the_top():
    table = replace(small_table(), note="It *stands*.\n\n## Why\n\nBecause.")
    page = tables_page("t", chapters_of([table, replace(table, name="2", note="")], {}), {})
    assert page.index("It <em>stands</em>.") < page.index("Every number") < page.index("<h4>Why</h4>")
    assert page.count("It <em>stands</em>.") == 1
    for target in re.findall(r'href="#([^"]+)"', page):
        assert page.count(f'id="{target}"') == 1
    assert '<a href="#table-1-2">2: Accuracies' in page


@pytest.mark.parametrize("words", ["the 95% interval of the mean", "the worst and the best order of ties"])
def test_brackets_are_told_for_what_they_are(words):
    told = {} if words == small_table().interval else {"interval": words}
    table = replace(small_table(), **told)
    page = tables_page("t", chapters_of([table], run(table.tasks(False))), {})
    assert f"honest, on rows that were not seen (in brackets {words})" in page


def test_how_much_is_met_is_told(chapters):
    told = (Reached("LDA within .002", 25, 28, "all but 3", True), Reached("PCA", 1, 3, "all", False))
    page = tables_page("t", [replace(chapters[0], reached=told)], {})
    assert '<td class="same">25</td><td>28</td><td>all but 3</td>' in page
    assert '<td class="far">1</td><td>3</td><td>all</td>' in page


def test_numbers_that_are_met_are_counted_by_method(chapters, page):
    (result,) = chapters[0].results
    counts = result.met_by_method
    assert sum(met for met, _ in counts.values()) == 7
    assert sum(of for _, of in counts.values()) == 12
    assert ", ".join(f"{name} {met} of {of}" for name, (met, of) in counts.items()) in Words(page)


def test_a_table_may_order_its_methods_and_tell_its_facts_first():
    table = replace(
        small_table(), name="2", leads=True, facts=lambda outcomes: ("First of all.",),
        order=lambda cells: sorted({one.cell.method for one in cells}),
    )  # fmt: skip
    chapters = chapters_of([small_table(), table], run(table.tasks(False)))
    page = tables_page("t", chapters, {})
    first, second = (part.split("</tr>")[0] for part in page.split('class="numbers"')[1:])
    assert re.findall(r'<th scope="col">([^<]+)</th>', first) == ["PCA", "LDA", "SGt-SNE"]
    assert re.findall(r'<th scope="col">([^<]+)</th>', second) == ["LDA", "PCA", "SGt-SNE"]
    assert chapters[0].sentences[0] == "First of all."
    assert chapters[0].sentences.count("First of all.") == 1


def test_bounds_of_rounding_are_a_line_of_the_cell():
    """Only where they differ in the digits shown; a dash does not stand before a minus."""
    table = small_table()
    spans = {"PCA": (0.701, 0.709), "LDA": (-0.2, -0.1), "SGt-SNE": (0.9501, 0.9502)}
    tasks = [
        Task("s", "1", "iris", method, ROUNDED, "builtins:dict", {"mean low": low, "mean high": high})
        for method, (low, high) in spans.items()
    ]
    table = replace(table, tasks=lambda quick, others=table.tasks: (*others(quick), *tasks))
    page = tables_page("s", chapters_of([table], run(table.tasks(False))), {})
    assert re.findall(r'class="least">([^<]*)<', page) == [".701–.709", "-.200 to -.100"]
