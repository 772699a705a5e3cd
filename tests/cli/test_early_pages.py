"""A page that is there before all methods are, and the browser that shows it."""

import os
import re
import webbrowser
from pathlib import Path

import pytest
from stubs import PAGE

from isentropic import registry
from isentropic.cli.shared import early_pages
from isentropic.cli.shared.output import Output

CALL = ("report", "builtin:iris", "--methods", "pca,isomap,classical-mds", "--preset", "quick")
RELOAD = '<meta http-equiv="refresh"'


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """A page after each method; their texts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(early_pages, "_FIRST", 0.0)
    monkeypatch.setattr(early_pages, "_OFTEN", 0.0)
    monkeypatch.setattr(early_pages, "_SHARE", 1e9)
    texts, write = [], early_pages.EarlyPages._write

    def noted(self, text, comparing):
        write(self, text, comparing)
        texts.append(self._output.path.read_text(encoding="utf-8"))

    monkeypatch.setattr(early_pages.EarlyPages, "_write", noted)
    return texts


def without_figures(text):
    return re.sub(r'<(td|dd)[^>]*class="measured">.*?</', "", text)


def test_pages_are_marked_until_the_last_one(run, pages, monkeypatch):
    assert run(*CALL).exit_code == 0
    early = list(pages)
    last = Path("report.html").read_text(encoding="utf-8")
    assert [re.findall(r"Preliminary, comparing: \d of \d methods", text) for text in early] == [
        [f"Preliminary, comparing: {i} of 3 methods"] for i in (1, 2)
    ]
    for text in early:
        assert text.startswith("<!doctype html>")
        assert text.rstrip().endswith("</html>")
        assert text.count(RELOAD) == 1
        assert "Groups are tested once all methods are compared." in text
    assert RELOAD not in last
    assert "reliminary" not in last
    monkeypatch.setattr(early_pages, "_FIRST", 1e9)
    assert run(*CALL).exit_code == 0
    assert len(pages) == 2
    assert without_figures(Path("report.html").read_text(encoding="utf-8")) == without_figures(last)


def test_a_comparison_that_is_interrupted_leaves_its_page(run, pages, monkeypatch):
    def make(name, real=registry.make, **params):
        if name == "classical-mds":
            raise KeyboardInterrupt
        return real(name, **params)

    monkeypatch.setattr(registry, "make", make)
    result = run(*CALL)
    assert result.exit_code == 130
    assert "report.html has 2 of 3 methods." in result.stderr
    text = Path("report.html").read_text(encoding="utf-8")
    assert "Interrupted after 2 of 3 methods." in text
    assert RELOAD not in text
    assert sorted(os.listdir()) == ["report.html"]


@pytest.mark.parametrize("option", [(), ("--out", "report.html")])
def test_a_file_that_is_not_ours_stays_until_all_is_done(run, pages, option):
    """Under the usual name it stays for good; one that was named is replaced by the whole page."""
    Path("report.html").write_text("mine", encoding="utf-8")
    result = run(*CALL, *option)
    assert result.exit_code == (0 if option else 2)
    assert pages == []
    assert (Path("report.html").read_text(encoding="utf-8") == "mine") is (not option)
    Path("report.html").write_text("mine", encoding="utf-8")
    assert run(*CALL, "--force").exit_code == 0
    assert len(pages) == 2


def test_an_earlier_page_is_replaced_early(run, pages):
    Path("report.html").write_text(PAGE, encoding="utf-8")
    assert run(*CALL, "--out", "report.html").exit_code == 0
    assert len(pages) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_gets_no_early_page(pages):
    os.mkfifo("page.html")
    for path, may in (("page.html", False), ("new.html", True)):
        output = Output("--out", Path(path))
        early = early_pages.EarlyPages(output, None, None, force=True)
        assert early._may_write() is may


# ---- --open ------------------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch):
    seen = []
    monkeypatch.setattr(early_pages, "_is_graphical", lambda: True)
    monkeypatch.setattr(
        webbrowser,
        "open",
        lambda uri: not seen.append((uri, Path("report.html").read_text(encoding="utf-8"))),
    )
    return seen


def test_the_first_page_is_opened_once(run, pages, opened, tmp_path):
    assert run(*CALL, "--open").exit_code == 0
    ((uri, text),) = opened
    assert uri == (tmp_path / "report.html").as_uri()
    assert "comparing: 1 of 3 methods" in text


def test_without_an_early_page_the_last_one_is_opened(run, pages, opened, monkeypatch):
    monkeypatch.setattr(early_pages, "_FIRST", 1e9)
    assert run(*CALL, "--open").exit_code == 0
    assert len(opened) == 1
    assert RELOAD not in opened[0][1]
    assert run(*CALL).exit_code == 0
    assert len(opened) == 1


@pytest.mark.parametrize("how", ["none", "error", "terminal"])
def test_without_a_browser_one_line_says_so(run, pages, monkeypatch, how):
    def fail(uri):
        raise webbrowser.Error("no browser")

    monkeypatch.setattr(webbrowser, "open", fail if how == "error" else lambda uri: False)
    monkeypatch.setattr(early_pages, "_is_graphical", lambda: how != "terminal")
    result = run(*CALL, "--open")
    assert result.exit_code == 0
    assert result.stderr.count("No browser was found: open report.html yourself.") == 1


def test_a_browser_of_the_terminal_is_none(monkeypatch):
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    assert not early_pages._is_graphical()
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser("firefox"))
    assert early_pages._is_graphical()
