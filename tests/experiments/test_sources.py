"""Sources of installed packages are found by their entry points; what is wrong with one is told."""

from dataclasses import replace

import pytest

from isentropic._core.errors import InvalidInputError, IsentropicWarning, MissingExtraError
from isentropic.experiments.findings.sentences import chapters_of
from isentropic.experiments.studies import require_plugin, sources, tables_of
from published_stub import SOURCE, install_sources, small_table


@pytest.fixture
def small_source(monkeypatch):
    install_sources(monkeypatch, small="published_stub:SOURCE")


@pytest.mark.usefixtures("small_source")
def test_a_source_of_another_package_gets_in():
    require_plugin()
    assert sources() == {"small": SOURCE}


def test_without_a_package_it_is_told_what_to_install(monkeypatch):
    install_sources(monkeypatch)
    assert sources() == {}
    told = r"Published tables need isentropic-papers.*\. Install it with: pip install isentropic-papers$"
    with pytest.raises(MissingExtraError, match=told):
        require_plugin()


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (
            "published_stub:nowhere",
            "'published_stub:nowhere' is left out: it cannot be loaded \\(.*'nowhere'",
        ),
        ("no_such_package:SOURCE", "it cannot be loaded \\(No module named 'no_such_package'\\)"),
        ("published_stub:TAKEN", "its name is taken"),
        ("published_stub:SOURCE", "its name is taken"),
    ],
)
def test_a_source_that_is_not_to_be_had_is_left_out_and_told(monkeypatch, target, told):
    install_sources(monkeypatch, first="published_stub:SOURCE", second=target)
    with pytest.warns(IsentropicWarning, match=told):
        found = sources()
    assert found == {"small": SOURCE}
    assert [table.name for table in tables_of("all", found)] == ["1"]
    with pytest.raises(InvalidInputError, match=r"source must be one of small, all, got 'list'"):
        tables_of("list", found)


@pytest.mark.usefixtures("small_source")
def test_tables_by_their_words():
    assert [table.name for table in tables_of("small:1")] == ["1"]
    assert [table.name for table in tables_of("small:Table1")] == ["1"]
    assert len(tables_of("small")) == len(tables_of("all")) == 1
    with pytest.raises(InvalidInputError, match="source must be one of small, all"):
        tables_of("005")
    with pytest.raises(InvalidInputError, match="table must be one of small:1, got 'small:9'"):
        tables_of("small:9")


def test_tables_must_be_of_their_source():
    other = replace(SOURCE, name="other")
    with pytest.raises(InvalidInputError, match=r"source of table '1' must be 'other'.*got 'small'"):
        tables_of("all", {"other": other})


def test_a_chapter_has_what_its_source_says():
    (chapter,) = chapters_of([small_table()], {}, sources={"small": SOURCE})
    assert (chapter.name, chapter.title) == ("small", "A small source")
    (chapter,) = chapters_of([small_table()], {})
    assert (chapter.name, chapter.title) == ("small", "Accuracies")
