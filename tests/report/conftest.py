"""What the tests of the page share: a small comparison, and a browser to look at its page."""

import shutil

import numpy as np
import pytest
from made_comparisons import make_runs, make_table, make_verdict

NO_CHROMIUM = "Chromium is not installed, so the page was not opened. On Debian: apt-get install chromium"


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(scope="session")
def runs(table):
    return make_runs(table)


@pytest.fixture(scope="session")
def verdict(table, runs):
    return make_verdict(runs, np.flatnonzero(table.y == 1))


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once; tests that need it say how to get it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip(NO_CHROMIUM)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()
