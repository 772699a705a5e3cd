"""What the tests of the page share: a small comparison, and a browser to look at its page."""

import shutil

import numpy as np
import pytest
from browsing import LAPTOP, READY, Heard
from made_comparisons import FACTS, make_runs, make_table, make_verdict, page

from isentropic.quality import assess

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
def large_page():
    """Nine maps of 5,000 rows with 300 columns."""
    table = make_table(5_000, n_classes=10, m=300)
    quality = assess(table.X[:, :5], table.X[:, :2], sample=200, measures="ranks")
    runs = make_runs(table, 9, quality=quality)
    return page(table, runs, make_verdict(runs, range(600)), FACTS)


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


@pytest.fixture
def open_page(browser):
    """Opens pages on a laptop; none of them may complain, or ask for anything but itself."""
    tabs = []

    def opened(address, **options):
        tab = browser.new_page(viewport=LAPTOP, **options)
        tabs.append(tab)
        tab.heard = Heard(tab)
        tab.goto(address)
        tab.wait_for_function(READY)
        return tab

    yield opened
    for tab in tabs:
        assert tab.heard.complaints == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in tab.heard.requests)
        tab.close()
