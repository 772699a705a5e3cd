"""The page at work: its size, and the longest task of each thing that a reader does, with twelve maps.

    python -m benchmarks.page [ROWS ...]

Needs Chromium (on Debian: apt-get install chromium) and playwright. Without a graphics card, at 1366 x 768.
A task is what the page does between two chances to answer: no frame is longer. Each line has milliseconds of
the clock, which a busy machine makes longer, and of the processor; the middle one of three runs.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isentropic import datasets
from isentropic.comparison import Run, collect_page_data, verdict
from isentropic.quality import assess
from isentropic.report import page

from .runner import answer_help

MAPS, COLUMNS, CLASSES = 12, 10, 10
RUNS = 3
FRAMES = (
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"
)
TRACED = ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing"]
MARK = "the page that is measured"


def made_page(n: int) -> str:
    """Twelve maps of ``n`` rows: pairs of columns of a table with ten groups, and two columns of text."""
    random = np.random.default_rng(0)
    y = random.integers(CLASSES, size=n)
    X = random.normal(size=(n, COLUMNS))
    X[:, :2] += 4 * np.column_stack([np.cos(y), np.sin(y)])
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(COLUMNS)])
    frame["town"] = random.choice([f"town {i}" for i in range(30)], n)
    frame["heating"] = np.where(y == 0, "oil", random.choice(["oil", "gas", "wood"], n))
    frame["kind"] = [f"class {code}" for code in y]
    table = datasets.load(frame, "kind", scaling="none")
    quality = assess(X, X[:, :2], sample=min(n, 700), measures="ranks")
    runs = [
        Run(f"map-{i}", {}, None, 0.0, None, np.roll(X, i, axis=1)[:, :2].copy(), quality)
        for i in range(MAPS)
    ]
    judged = verdict(runs)
    return page(table, runs, judged, collect_page_data(table, runs, judged), {})


# ---- what a reader does ------------------------------------------------------------------------


def _until(tab: Any, wanted: str) -> None:
    tab.wait_for_function(f"() => {wanted}")


def _drag(tab: Any, box: Any) -> None:
    tab.mouse.move(box["x"] + 20, box["y"] + 20)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] - 20, steps=30)
    tab.mouse.up()


def _brush(tab: Any, box: Any) -> None:
    tab.evaluate("isentropic.selecting.answer = null")
    _drag(tab, box)
    _until(tab, "isentropic.selecting.answer")  # its explanation, too
    assert tab.evaluate("isentropic.nSelected") > 0, "the brush selected nothing"


def _lasso(tab: Any, box: Any) -> None:
    """A ring of 90 corners around the middle of the map."""
    tab.keyboard.down("Alt")
    for step in range(90):
        angle = 2 * np.pi * step / 90
        x, y = box["width"] * (0.5 + 0.3 * np.cos(angle)), box["height"] * (0.5 + 0.3 * np.sin(angle))
        tab.mouse.move(box["x"] + x, box["y"] + y)
        if step == 0:
            tab.mouse.down()
    tab.mouse.up()
    tab.keyboard.up("Alt")
    _until(tab, "isentropic.selecting.answer")


def _correct(tab: Any, box: Any) -> None:
    tab.evaluate("isentropic.selecting.answer = null")
    tab.locator("#correct").evaluate("(button) => button.click()")
    _until(tab, "isentropic.selecting.answer || isentropic.selecting.undo")


def _second(tab: Any, box: Any) -> None:
    every_fourth = "isentropic.selectRows(Array.from({{ length: isentropic.n >> 2 }}, (_, i) => 4 * i + {}))"
    tab.evaluate(every_fourth.format(0))
    tab.locator("#keep").evaluate("(button) => button.click()")
    tab.evaluate("isentropic.selecting.answer = null")
    tab.evaluate(every_fourth.format(1))
    _until(tab, "isentropic.selecting.answer")
    tab.locator("#release").evaluate("(button) => button.click()")


def _hover(tab: Any, box: Any) -> None:
    for step in range(20):
        tab.mouse.move(box["x"] + box["width"] * (0.3 + 0.02 * step), box["y"] + box["height"] / 2)


def _keys(tab: Any, box: Any) -> None:
    tab.locator(".multiples canvas.over").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        tab.keyboard.press(key)


def _color(value: str) -> Callable[[Any, Any], None]:
    def chosen(tab: Any, box: Any) -> None:
        tab.evaluate("(value) => isentropic.setColor(value)", value)
        _until(tab, "isentropic.views.every((view) => !view.stale)")

    return chosen


def _theme(tab: Any, box: Any) -> None:
    tab.locator("#theme").click()
    _until(tab, "isentropic.views.every((view) => !view.stale)")


def _pair(tab: Any, box: Any) -> None:
    tab.locator("#pair select").nth(1).select_option("2")
    _until(tab, "isentropic.pair.result")


def _morph(tab: Any, box: Any) -> None:
    tab.evaluate("isentropic.pair.play()")
    tab.wait_for_timeout(2_000)


def _chart(tab: Any, box: Any) -> None:
    tab.locator("#curves svg").first.scroll_into_view_if_needed()
    at = tab.locator("#curves svg").first.bounding_box()
    for step in range(20):
        tab.mouse.move(at["x"] + at["width"] * (0.2 + 0.03 * step), at["y"] + at["height"] / 2)


def _saved(kind: str, panel: str) -> Callable[[Any, Any], None]:
    def save(tab: Any, box: Any) -> None:
        with tab.expect_download():
            button = tab.locator(panel).first.locator(f".save button:text('{kind}')")
            button.evaluate("(button) => button.click()")

    return save


def _shown(tab: Any, box: Any) -> None:
    tab.locator("#all").evaluate("(button) => button.click()")
    _until(tab, "isentropic.views.every((view) => !view.stale)")


MAP = ".multiples figure"
ACTIONS: dict[str, Callable[[Any, Any], None]] = {
    "hover over a map": _hover,
    "arrow keys": _keys,
    "box over half of a map, and why": _brush,
    "lasso, and why": _lasso,
    "correct it": _correct,
    "second selection": _second,
    "clear": lambda tab, box: tab.keyboard.press("Escape"),
    "colour: damage": _color("false"),
    "colour: numbers": _color("column:0"),
    "colour: text": _color("column:10"),
    "one level of the legend": lambda tab, box: tab.locator(".tools .legend button").first.click(),
    "clear again": lambda tab, box: tab.keyboard.press("Escape"),
    "dark": _theme,
    "light": _theme,
    "overlay": lambda tab, box: tab.evaluate("isentropic.pin(17)"),
    "let go": lambda tab, box: tab.keyboard.press("Escape"),
    "two maps": _pair,
    "morph": _morph,
    "all twelve maps": _shown,
    "map as SVG": _saved("SVG", MAP),
    "map as PNG": _saved("PNG", MAP),
    "chart as SVG": _saved("SVG", "#curves > div"),
    "chart as PNG": _saved("PNG", "#curves > div"),
    "pictures as PNG": _saved("PNG", "#pictures > div"),
    "hover over a chart": _chart,
    "sort the table": lambda tab, box: tab.locator("#scores thead button").nth(1).click(),
}


# ---- measuring ---------------------------------------------------------------------------------


def longest_task(browser: Any, tab: Any, act: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds of the clock, and of the processor, that the page was longest deaf for."""
    browser.start_tracing(page=tab, categories=TRACED)
    act()
    tab.evaluate(FRAMES)
    tab.evaluate("(mark) => { performance.mark(mark); }", MARK)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    # the browser draws its own windows as pages, too: only the thread of ours counts
    ours = {(e["pid"], e["tid"]) for e in events if e["name"] == MARK}
    tasks = [e for e in events if e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in ours]
    longest = max(tasks, key=lambda e: e.get("dur", 0))
    return longest.get("dur", 0) / 1e3, longest.get("tdur", 0) / 1e3


def longest_tasks(browser: Any, path: Path) -> dict[str, tuple[float, float]]:
    """Of opening it, then of each action after the other."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})

    def opened() -> None:
        tab.goto(path.as_uri())
        _until(tab, "window.isentropic && isentropic.ready")
        _until(tab, "isentropic.views.every((view) => !view.stale)")

    found = {"open": longest_task(browser, tab, opened)}
    for name, act in ACTIONS.items():
        figure = tab.locator(MAP).first
        figure.evaluate("(one) => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
        tab.evaluate(FRAMES)
        box = figure.locator("canvas.over").bounding_box()
        found[name] = longest_task(browser, tab, lambda act=act, box=box: act(tab, box))
    tab.close()
    return found


def main(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium") or sys.exit(
        "Chromium is missing. On Debian: apt-get install chromium"
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for n in sizes:
            begun = time.perf_counter()
            html = made_page(n)
            path = Path(folder) / f"{n}.html"
            path.write_text(html, encoding="utf-8")
            size, seconds = len(html.encode()) / 1e6, time.perf_counter() - begun
            load = os.getloadavg()[0]
            found = [longest_tasks(browser, path) for _ in range(RUNS)]
            print(f"{n:,} rows, {MAPS} maps: {size:.1f} MB, made in {seconds:.1f} s; load {load:.1f}\n")
            print("| longest task | clock, ms | processor, ms |\n| --- | ---: | ---: |")
            for name in found[0]:
                clock, processor = sorted(one[name] for one in found)[RUNS // 2]
                print(f"| {name} | {clock:.0f} | {processor:.0f} |")
            print()
        browser.close()


if __name__ == "__main__":
    answer_help(__doc__)
    main([int(text) for text in sys.argv[1:]] or [5_000, 20_000])
