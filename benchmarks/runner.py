"""Measures contenders side by side: same machine, same data, same run.

A contender is a function of the data. Each measurement is a fresh process: it prepares the data,
warms up (imports, compiled code) on a small part of them, then runs once. Time is of that run; peak
memory is of the whole process, and also of what the run added to it. Contenders take turns, so that
a busy moment of the machine hits all of them alike; the median of the repeats is reported.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]

RESULTS = Path(__file__).with_name("RESULTS.md")


@dataclass(frozen=True)
class Case:
    """One workload, run by several contenders. The first contender is the peer that ratios refer to."""

    name: str
    data: Callable[[], Arrays]
    # Each returns figures worth printing; coordinates called "map" are compared with the peer's.
    contenders: dict[str, Callable[[Arrays], dict[str, Any]]]
    warm_up: int = 300  # rows
    repeats: int = 3
    peers: tuple[str, ...] = field(default=("scikit-learn", "scipy", "numpy", "numba"))
    only_by_name: bool = False  # takes so long that it runs only where it is asked for


def measure(module: str, case: str, contender: str, data: str) -> dict[str, float]:
    """Run one contender once, in a process of its own, on the arrays of a file."""
    command = [sys.executable, "-m", "benchmarks.runner", module, case, contender, data]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=RESULTS.parents[1])
    if done.returncode != 0:
        raise SystemExit(f"{contender} failed on {case}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _measured_here(module: str, case_name: str, contender: str, file: str) -> dict[str, float]:
    case = import_module(module).CASES[case_name]
    with np.load(file) as arrays:
        data = dict(arrays)
    run = case.contenders[contender]
    run({name: array[: case.warm_up] for name, array in data.items()})
    before = _peak()
    start = time.perf_counter()
    figures = run(data)
    seconds = time.perf_counter() - start
    taken = {"seconds": seconds, "peak": _peak(), "added": _peak() - before}
    Z = figures.pop("map", None)
    if Z is not None:
        is_peer = contender == next(iter(case.contenders))
        figures["difference of the map"] = _difference(Z, Path(file).with_name("map.npy"), is_peer)
    return {**taken, **figures}


def _difference(Z: np.ndarray, peers: Path, is_peer: bool) -> float:
    """Largest difference of a coordinate from the peer's, up to its sign, relative to the largest one."""
    if is_peer:
        np.save(peers, Z)
    theirs = np.load(peers)
    signs = np.sign(np.einsum("ij,ij->j", Z, theirs))
    return float(np.abs(Z * signs - theirs).max() / np.abs(theirs).max())


def _peak() -> float:
    """Largest resident size of this process so far, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # the other figure includes the size of the process that started this one
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))[1]) / 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1024**2 if sys.platform == "darwin" else 1024)


def answer_help(text: str | None, cases: Iterable[str] = (), *, least: int = 0) -> None:
    """Print what a benchmark does and end, where ``--help`` or too few arguments are given."""
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments) or len(arguments) < least:
        print((text or "").strip(), *(["", "Cases:", *map(repr, cases)] if cases else []), sep="\n")
        sys.exit(0 if len(arguments) >= least else 2)


def run_cases(module: str, cases: dict[str, Case]) -> None:
    """Measure every case (or those named on the command line), print and keep each table."""
    answer_help(sys.modules["__main__"].__doc__, cases)
    usual = [name for name, case in cases.items() if not case.only_by_name]
    for name in sys.argv[1:] or usual:
        case = cases[name]
        beside = os.getloadavg()[0]
        table = _table(name, f"{_day()}, {_conditions(case.repeats, beside)}", _take_turns(module, case))
        print(table, flush=True)
        _keep(module, _heading(case.peers), list(cases), name, table)


def _take_turns(module: str, case: Case) -> dict[str, list[dict[str, float]]]:
    taken: dict[str, list[dict[str, float]]] = {contender: [] for contender in case.contenders}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "data.npz")
        np.savez(file, **case.data())
        for _ in range(case.repeats):
            for contender in case.contenders:
                taken[contender].append(measure(module, case.name, contender, file))
    return taken


def _table(name: str, told: str, taken: dict[str, list[dict[str, float]]]) -> str:
    medians = {
        contender: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for contender, runs in taken.items()
    }
    peer = next(iter(medians.values()))
    extra = [key for key in peer if key not in ("seconds", "peak", "added")]
    header = [
        "contender",
        "seconds",
        "times faster",
        "peak MiB",
        "of peer's",
        "added MiB",
        "of peer's",
        *extra,
    ]
    rows = [header, ["---"] * len(header)]
    for contender, found in medians.items():
        rows.append([
            contender, f"{found['seconds']:.2f}", f"{peer['seconds'] / found['seconds']:.1f}",
            f"{found['peak']:.0f}", f"{found['peak'] / peer['peak']:.2f}",
            f"{found['added']:.0f}", f"{found['added'] / peer['added']:.2f}" if peer["added"] else "",
            *(f"{found[key]:.4g}" for key in extra),
        ])  # fmt: skip
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"**{name}** ({told})\n\n{lines}\n"


def _day() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _conditions(repeats: int, beside: float) -> str:
    """How a table was taken: seconds mean little where other processes wanted the cores too."""
    runs = "one run" if repeats == 1 else f"medians of {repeats} runs"
    return f"{runs}, load {beside:.1f} before" + (": read CPU seconds" if beside > 1.0 else "")


def _heading(packages: tuple[str, ...]) -> str:
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {versions}. Runs in fresh "
        "processes, warm; times and sizes against the first line of each table."
    )


def _keep(module: str, heading: str, order: list[str], name: str, table: str) -> None:
    """Replace this case's table in its module's section of RESULTS.md; tables stand in the cases' order."""
    title = module.rsplit(".", 1)[-1]
    old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Benchmarks\n"
    head, *others = old.split("\n## ")
    sections = {section.partition("\n")[0]: section.partition("\n")[2] for section in others}
    kept = [part for part in sections.get(title, "").split("\n**")[1:] if part.partition("**")[0] in order]
    tables = {part.partition("**")[0]: f"**{part.rstrip()}\n" for part in kept} | {name: table}
    inside = "\n".join(tables[name] for name in order if name in tables)
    sections[title] = f"\n{heading}\n\n{inside}"
    text = "\n## ".join([head.rstrip() + "\n", *(f"{key}\n{sections[key]}" for key in sorted(sections))])
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    print(json.dumps(_measured_here(*sys.argv[1:5])))
