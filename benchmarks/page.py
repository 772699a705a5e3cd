"""The page at work: its size, and the longest task of each thing that a reader does, with twelve maps.

    python -m benchmarks.page [ROWS ...]

Needs Chromium (on Debian: apt-get install chromium) and playwright. Without a graphics card, at 1366 x 768.
A task is what the page does between two chances to answer: no frame is longer. Milliseconds are of the
processor, so that a busy machine does not count.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from isentropic._values import Table
from isentropic.comparison import Run, drawing, verdict
from isentropic.quality import assess
from isentropic.report import page

MAPS, COLUMNS, CLASSES = 12, 10, 10
FRAMES = (
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"
)
TRACED = ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"]


def made_page(n: int) -> str:
    """Twelve maps of ``n`` rows: pairs of columns of a table with ten groups."""
    random = np.random.default_rng(0)
    y = random.integers(CLASSES, size=n)
    X = random.normal(size=(n, COLUMNS))
    X[:, :2] += 4 * np.column_stack([np.cos(y), np.sin(y)])
    names = [tuple(f"{kind} {i}" for i in range(count)) for kind, count in
             (("column", COLUMNS), ("row", n), ("class", CLASSES))]  # fmt: skip
    table = Table(X, y, *names, name="made", scaling="none")
    quality = assess(X, X[:, :2], sample=min(n, 700), measures="ranks")
    runs = [
        Run(f"map-{i}", {}, None, 0.0, None, np.roll(X, i, axis=1)[:, :2].copy(), quality)
        for i in range(MAPS)
    ]
    judged = verdict(runs)
    return page(table, runs, judged, drawing(table, runs, judged), {})


def _brush(tab, box) -> None:
    tab.mouse.move(box["x"] + 20, box["y"] + 20)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20, steps=30)
    tab.mouse.up()
    assert tab.evaluate("isentropic.nSelected") > 0, "the brush selected nothing"


def _hover(tab, box) -> None:
    for step in range(20):
        tab.mouse.move(box["x"] + box["width"] * (0.3 + 0.02 * step), box["y"] + box["height"] / 2)


def _morph(tab, box) -> None:
    tab.evaluate("isentropic.pair.play()")
    tab.wait_for_timeout(2_000)


def _pair(tab, box) -> None:
    tab.locator("#pair select").nth(1).select_option("2")
    tab.evaluate(
        "new Promise((d) => { const f = () => isentropic.pair.result ? d() : setTimeout(f, 20); f(); })"
    )


ACTIONS = {
    "hover": _hover,
    "brush": _brush,
    "clear": lambda tab, box: tab.keyboard.press("Escape"),
    "colour": lambda tab, box: tab.evaluate("isentropic.setColor('false')"),
    "lens": lambda tab, box: tab.evaluate("isentropic.pin(17)"),
    "let go": lambda tab, box: tab.keyboard.press("Escape"),
    "two maps": _pair,
    "morph": _morph,
}


def longest_task(browser, tab, act) -> tuple[float, float]:
    """Milliseconds of the processor, and of the clock, that the page was longest deaf for."""
    browser.start_tracing(page=tab, categories=TRACED)
    act()
    tab.evaluate(FRAMES)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {(e["pid"], e["tid"]) for e in events if e.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [e for e in events if e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in main]
    return tuple(max((e.get(key, 0) for e in tasks), default=0) / 1e3 for key in ("tdur", "dur"))


def longest_frames(browser, path: Path) -> dict[str, tuple[float, float]]:
    """Of the first picture, then of each action after the other."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})

    def opened() -> None:
        tab.goto(path.as_uri())
        tab.wait_for_function("window.isentropic && window.isentropic.ready", timeout=60_000)

    found = {"first": longest_task(browser, tab, opened)}
    figure = tab.locator(".multiples figure").first
    figure.evaluate("(one) => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
    tab.wait_for_timeout(500)
    box = figure.locator("canvas.over").bounding_box()
    for name, act in ACTIONS.items():
        tab.evaluate(FRAMES)
        found[name] = longest_task(browser, tab, lambda act=act: act(tab, box))
    tab.close()
    return found


def main(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium") or sys.exit(
        "Chromium is missing. On Debian: apt-get install chromium"
    )
    names = ["first", *ACTIONS]
    print("| rows | maps | page | seconds to make | " + " | ".join(names) + " |")
    print("| ---: | ---: | ---: | ---: |" + " ---: |" * len(names))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for n in sizes:
            begun = time.perf_counter()
            html = made_page(n)
            seconds = time.perf_counter() - begun
            path = Path(folder) / f"{n}.html"
            path.write_text(html, encoding="utf-8")
            frames = [longest_frames(browser, path) for _ in range(3)]
            size = f"{len(html.encode()) / 1e6:.1f} MB"
            middle = [f"{sorted(one[name][0] for one in frames)[1]:.0f}" for name in names]
            print(f"| {n:,} | {MAPS} | {size} | {seconds:.1f} | " + " | ".join(middle) + " |")
        browser.close()


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [5_000, 20_000])
