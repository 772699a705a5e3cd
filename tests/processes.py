"""Scripts in a process of their own: where failure is an abort, or the environment is the test."""

import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

# Loaded once, by a process that every fresh one is forked from: not ours, and most of the time of a start.
_OTHERS = ["numpy", "scipy.sparse", "scipy.spatial", "pandas", "sklearn.utils.validation", "numba", "joblib"]


def run(script, **environment):
    """Run Python code with some variables of the environment changed."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def in_fresh_process(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of this module in a process that has imported nothing of isentropic."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_OTHERS)
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        return pool.submit(function, *args).result()


def reached(dotted: str) -> str:
    """What a dotted name, ``isentropic.plot``, is right after ``import isentropic``."""
    assert "isentropic" not in sys.modules
    names: dict[str, Any] = {}
    exec("import isentropic", names)
    assert dotted.rpartition(".")[2] in dir(names["isentropic"])
    return str(eval(dotted, names).__name__)


def run_blocks(blocks: list[tuple[str, dict[str, Any]]], page: str, folder: Path) -> None:
    """Run one block of Python after the other, each with its names beside those of the blocks before it."""
    assert "isentropic" not in sys.modules
    warnings.simplefilter("ignore")
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    names: dict[str, Any] = {"__name__": "__main__"}
    for block, more in blocks:
        names |= more
        exec(compile(block, page, "exec"), names)
