"""Compile kernels before they are needed: :func:`warm_up`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import starmap

import numpy as np

from .._core.errors import require_one_of
from .._core.runtime import config_context
from .._core.workers import worker_pool
from ..registry import METHODS, make
from ..tables import load
from .budget.comparison_plan import select_rows
from .method_comparison import run_comparison
from .page_data import collect_page_data
from .presets import PRESETS, methods_of

__all__ = ["warm_up"]

_TABLES = ("builtin:iris", "builtin:digits")  # few columns and many: other kernels find their neighbours
_COMPARED, _FITTED = 150, 1_100  # rows: beyond 1,000 some methods optimize by other kernels
_COMPILE = f"{__name__}:compile_kernels"


def warm_up(
    methods: Sequence[str] | None = None,
    *,
    n_jobs: int | None = None,
    on_done: Callable[[str, int, int], None] | None = None,
) -> None:
    """Compile the kernels of methods, measures and reports, by a process for each core, and keep them.

    A kernel compiles when it is first called. It is kept on disk, for all later processes, until isentropic,
    numba or Python change. ``methods`` are names of the registry, by default those of the preset standard.
    ``on_done(what, done, total)`` is called as work is done. Tables of more than 4,000 rows need a few more
    kernels, which compile when they come.

    >>> warm_up(["pca"], n_jobs=1)
    """
    names = (
        methods_of(PRESETS["standard"], _COMPARED, has_classes=True) if methods is None else tuple(methods)
    )
    for name in names:
        require_one_of("methods", name, METHODS)
    # One process begins with the measures, the others with fits, so that they compile different kernels.
    calls = [("pca", True), *((name, False) for name in names), *((name, True) for name in names)]
    with worker_pool(n_jobs) as workers:
        answers = starmap(compile_kernels, calls) if workers is None else workers.map(_COMPILE, calls)
        for done, ((name, _), _) in enumerate(zip(calls, answers, strict=True), 1):
            if on_done is not None:
                on_done(name, done, len(calls))


def compile_kernels(method: str, compared: bool) -> None:
    """Fit a method to small tables and place rows, or compare it as a report does, measures included."""
    with warnings.catch_warnings(), config_context(progress=None):
        warnings.simplefilter("ignore")
        for source in _TABLES:
            table = load(source)
            different = np.sort(np.unique(table.X, axis=0, return_index=True)[1])
            table = select_rows(table, different[: _COMPARED if compared else _FITTED])
            if compared:
                found = run_comparison(table.X, table.classes, (method,), PRESETS["standard"], n_jobs=1)
                if found.verdict is not None and not found.runs[0].failed:
                    collect_page_data(table, found.runs, found.verdict)
            else:
                with suppress(Exception):  # what a method cannot do with these tables compiles nothing
                    make(method, n_jobs=1).fit(table.X, table.classes).transform(table.X[:5] + 1e-3)
