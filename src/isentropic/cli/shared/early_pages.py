"""Pages that are there before a comparison is over, and the browser that shows them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..._core.errors import IsentropicError, plural, printable
from .output import Output, is_of_earlier_run, is_page

if TYPE_CHECKING:
    from ...comparison.method_comparison import Comparison

_FIRST = 2.0  # seconds of a comparison, before which a page is not worth it
_OFTEN = 5.0  # seconds between two pages
_SHARE = 0.1  # of the time, that they may take

Render = Callable[["Comparison", tuple[int, int]], str]


class Browser:
    """Opens the page once, as soon as there is one; says in one line where it cannot."""

    def __init__(self, path: Path, *, wanted: bool) -> None:
        self._path, self._wanted = path, wanted

    def open(self) -> None:
        if not self._wanted:
            return
        self._wanted = False
        import webbrowser

        opened = False
        with suppress(webbrowser.Error, OSError):
            opened = _is_graphical() and webbrowser.open(self._path.absolute().as_uri())
        if not opened:
            typer.echo(printable(f"No browser was found: open {self._path} yourself."), err=True)


def _is_graphical() -> bool:
    """Whether the browser has a window of its own: one in the terminal would take its place."""
    import os
    import webbrowser

    return "BROWSER" in os.environ or type(webbrowser.get()) is not webbrowser.GenericBrowser


class EarlyPages:
    """Writes the page of the methods so far, whole, at most every few seconds; never to a pipe or device."""

    def __init__(self, output: Output, render: Render, browser: Browser, *, force: bool) -> None:
        self._output = replace(output, is_ours=is_page)  # a name that was given, too
        self._render, self._browser, self._force = render, browser, force
        self._due, self._total = time.perf_counter() + _FIRST, 0
        self._written: tuple[str, tuple[int, int]] | None = None

    def begin(self, n_methods: int) -> None:
        """So many methods are compared from now on."""
        self._due, self._total = time.perf_counter() + _FIRST, n_methods

    def update(self, so_far: Callable[[], Comparison]) -> None:
        """A method is done: write a page, if it is time for one and others are still to come."""
        began = time.perf_counter()
        if began < self._due or not self._may_write():
            return
        found = so_far()
        comparing = len(found.runs), self._total
        if comparing[0] >= self._total or all(run.failed for run in found.runs):
            return
        with suppress(IsentropicError):  # what keeps a page from being written is said at the end
            self._write(self._render(found, comparing), comparing)
            self._browser.open()
        took = time.perf_counter() - began
        self._due = time.perf_counter() + max(_OFTEN, took / _SHARE)

    def interrupted(self) -> None:
        """Say on the page that is there, and here, that no more will come."""
        if self._written is None:
            return
        from ...report.rendering import interrupted_page

        text, comparing = self._written
        with suppress(IsentropicError):
            self._write(interrupted_page(text, comparing), comparing)
            done = f"{comparing[0]} of {plural(comparing[1], 'method')}"
            typer.echo(printable(f"{self._output.path} has {done}."), err=True)

    def _may_write(self) -> bool:
        """Whether the place is free, or has a page of ours: another file stays until all is done."""
        from ..._core.files import is_stream

        path = self._output.path
        with suppress(IsentropicError, OSError):
            return not is_stream(path) and (
                self._force or not path.exists() or is_of_earlier_run(self._output)
            )
        return False

    def _write(self, text: str, comparing: tuple[int, int]) -> None:
        from ..._core.files import atomic_write

        with atomic_write(self._output.path, at_once=True) as file:
            file.write(text.encode(errors="backslashreplace"))
        self._written = text, comparing
