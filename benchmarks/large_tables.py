"""A report of a large table, as a user asks for it: seconds, processor time, peak memory of all processes.

    python -m benchmarks.large_tables [CASE ...]

The preset standard, with ``--memory 2G``; the command is a process of its own, and its imports, reading and
page count. There is no peer: no other program compares methods on a table and writes what to trust, so the
lines stand alone. Numbers are clusters with columns of noise; mixed tables are like the one of diamonds, of
ten columns, three of them text. The peak is that of resident sizes, read 50 times a second, as the command
resets the system's own record of it.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .runner import _conditions, _day, _keep, answer_help

MEMORY = "2G"
_EVERY = 0.02  # seconds
HEADING = (
    f"`isentropic report TABLE --memory {MEMORY}`, preset standard, {os.cpu_count()} cores, Python "
    f"{platform.python_version()}: one process from its start to its page. No other program does this: "
    "there is no peer. Peak of the resident memory of all processes."
)


def numbers(n: int, m: int) -> pd.DataFrame:
    """Eight clusters; the last quarter of the columns is noise."""
    random = np.random.default_rng(0)
    X = 4 * random.normal(size=(8, m))[random.integers(8, size=n)] + random.normal(size=(n, m))
    X[:, -(m // 4) :] = random.normal(size=(n, m // 4))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(m)])


def mixed(n: int) -> pd.DataFrame:
    """Like the table of diamonds."""
    random = np.random.default_rng(0)
    carat = np.exp(random.normal(-0.4, 0.58, n)).clip(0.2, 5).round(2)
    x = 6.4 * carat ** (1 / 3) * (1 + 0.01 * random.normal(size=n))
    depth = (61.75 + 1.43 * random.standard_t(5, n)).round(1)
    return pd.DataFrame(
        {
            "carat": carat,
            "cut": random.choice(["Fair", "Good", "Very Good", "Premium", "Ideal"], n),
            "color": random.choice(list("DEFGHIJ"), n),
            "clarity": random.choice(["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"], n),
            "depth": depth,
            "table": (57.5 + 2.2 * random.normal(size=n)).round(),
            "price": np.exp(7.9 + 1.68 * np.log(carat) + 0.25 * random.normal(size=n)).round(),
            "x": x.round(2),
            "y": (x * (1 + 0.01 * random.normal(size=n))).round(2),
            "z": (x * depth / 100).round(2),
        }
    )


CASES = {
    "numbers 20,000 x 20": lambda: numbers(20_000, 20),
    "numbers 54,000 x 10": lambda: numbers(54_000, 10),
    "mixed 20,000 x 10": lambda: mixed(20_000),
    "mixed 54,000 x 10": lambda: mixed(54_000),
}


def measured(table: pd.DataFrame) -> dict[str, float]:
    """Wall seconds, processor seconds and peak MiB of one report."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.to_csv(file, index=False)
        call = [sys.executable, "-m", "isentropic", "report", str(file), "--memory", MEMORY, "--quiet"]
        before, began, peak = _processor(), time.perf_counter(), 0
        running = subprocess.Popen([*call, "--out", str(file.with_suffix(".html"))])
        while running.poll() is None:
            peak = max(peak, sum(map(_resident, _family(running.pid))))
            time.sleep(_EVERY)
        taken = time.perf_counter() - began
        if running.returncode != 0:
            raise SystemExit(f"the report failed with code {running.returncode}")
        return {"seconds": taken, "processor": _processor() - before, "peak": peak / 2**20}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _family(process: int) -> list[int]:
    """A process and all that it started, and so on."""
    found = [process]
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = file.read_text(encoding="ascii").split()
        except OSError:  # the thread has ended
            continue
        found += [one for child in children for one in _family(int(child))]
    return found


def _resident(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main(names: list[str]) -> None:
    """Measure every case (or those named), print and keep each table."""
    for name in names or CASES:
        load = os.getloadavg()[0]
        found = measured(CASES[name]())
        table = (
            f"**{name}** ({_day()}, {_conditions(1, load)})\n\n"
            "| command | seconds | CPU seconds | peak MiB |\n| --- | --- | --- | --- |\n"
            f"| report, standard, --memory {MEMORY} (no peer) | {found['seconds']:.0f} | "
            f"{found['processor']:.0f} | {found['peak']:.0f} |\n"
        )
        print(table, flush=True)
        _keep(__spec__.name, HEADING, list(CASES), name, table)


if __name__ == "__main__":
    answer_help(__doc__, CASES)
    main(sys.argv[1:])
