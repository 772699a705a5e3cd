"""The page at work: its size, and the longest frame while a brush moves over nine maps.

    python -m benchmarks.page [ROWS ...]

Needs Chromium (on Debian: apt-get install chromium) and playwright. Without a graphics card, at 1366 x 768.
"""

from __future__ import annotations

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

MAPS, COLUMNS, CLASSES = 9, 10, 10
WATCH = """() => { window.longest = 0; let last = performance.now();
  const tick = () => { const now = performance.now(); window.longest = Math.max(window.longest, now - last);
    last = now; requestAnimationFrame(tick); }; requestAnimationFrame(tick); }"""


def made_page(n: int) -> str:
    """Nine maps of ``n`` rows: pairs of columns of a table with ten groups."""
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


def longest_frame(browser, path: Path) -> float:
    """Milliseconds, while a brush grows over most of a map."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.goto(path.as_uri())
    tab.wait_for_function("window.isentropic && window.isentropic.ready", timeout=60_000)
    figure = tab.locator(".multiples figure").first
    figure.evaluate("(one) => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = figure.locator("canvas.over").bounding_box()
    tab.evaluate(WATCH)
    tab.mouse.move(box["x"] + 20, box["y"] + 20)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20, steps=30)
    tab.mouse.up()
    found = tab.evaluate("[window.longest, isentropic.nSelected]")
    tab.close()
    assert found[1] > 0, "the brush selected nothing"
    return found[0]


def main(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium") or sys.exit(
        "Chromium is missing. On Debian: apt-get install chromium"
    )
    print("| rows | maps | page | seconds to make | longest frame of a brush |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for n in sizes:
            begun = time.perf_counter()
            html = made_page(n)
            seconds = time.perf_counter() - begun
            path = Path(folder) / f"{n}.html"
            path.write_text(html, encoding="utf-8")
            frames = [longest_frame(browser, path) for _ in range(3)]
            size = f"{len(html.encode()) / 1e6:.1f} MB"
            print(f"| {n:,} | {MAPS} | {size} | {seconds:.1f} | {sorted(frames)[1]:.0f} ms |")
        browser.close()


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [5_000, 50_000])
