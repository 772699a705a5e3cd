"""The picture of the report in the README: the top of a page, as a laptop shows it.

    isentropic report builtin:digits --out out/digits.html
    python docs/draw_report.py out/digits.html

Needs Chromium (on Debian: apt-get install chromium) and playwright.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "images" / "report.png"

with sync_playwright() as started:
    browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    tab = browser.new_page(viewport={"width": 1366, "height": 768}, color_scheme="light")
    tab.goto(Path(sys.argv[1]).resolve().as_uri())
    tab.wait_for_function("() => window.isentropic && window.isentropic.ready")
    tab.screenshot(path=PICTURE)
    browser.close()
