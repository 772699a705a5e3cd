"""Large tables: a report as a user asks for it, and maps of up to a million rows of single precision.

    python -m benchmarks.large_tables [CASE ...]

A report: the preset standard, with ``--memory 2G``; the command is a process of its own, and its imports,
reading and page count. There is no peer: no other program compares methods on a table and writes what to
trust, so the lines stand alone. Numbers are clusters with columns of noise; mixed tables are like the one of
diamonds, of ten columns, three of them text. The peak is that of resident sizes, read 50 times a second, as
the command resets the system's own record of it.

Maps run where they are named, in a process that has made a small one before; umap-learn's beside ours as far
as it goes in some minutes. Rows lie in 100 groups, each with directions of its own, on a bent surface.
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

from .runner import Case, _conditions, _day, _keep, _table, _take_turns, answer_help

MEMORY = "2G"
_EVERY = 0.02  # seconds
HEADING = (
    f"`isentropic report TABLE --memory {MEMORY}`, preset standard, {os.cpu_count()} cores, Python "
    f"{platform.python_version()}: one process from its start to its page. No other program does this: "
    "there is no peer. Peak of the resident memory of all processes. Maps: of float32, in warm processes of "
    'their own, where "added" is beyond the table and a small map.'
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


REPORTS = {
    "numbers 20,000 x 20": lambda: numbers(20_000, 20),
    "numbers 54,000 x 10": lambda: numbers(54_000, 10),
    "mixed 20,000 x 10": lambda: mixed(20_000),
    "mixed 54,000 x 10": lambda: mixed(54_000),
}


def bent_groups(n: int, m: int = 50):
    """Groups around places in 8 dimensions, bent into m, each with directions of its own."""

    def data() -> dict[str, np.ndarray]:
        rng = np.random.default_rng(0)
        middles, own = 3.0 * rng.normal(size=(100, 8)), rng.normal(size=(100, 8, m)) / np.sqrt(8)
        group, bend = rng.integers(0, 100, n), rng.normal(size=(8, m)) / np.sqrt(8)
        X = np.empty((n, m), np.float32)
        for start in range(0, n, 10_000):
            here = group[start : start + 10_000]
            inside = rng.normal(size=(len(here), 8))
            place = middles[here] + inside
            X[start : start + 10_000] = (
                2.0 * np.sin(place @ bend)
                + 0.5 * place @ bend[:, ::-1]
                + 0.5 * np.einsum("ij,ijk->ik", inside, own[here])
                + 0.1 * rng.normal(size=(len(here), m))
            )
        return {"X": X}

    return data


def _mapped(fit):
    """A contender: processor seconds of a map beside what the runner measures."""

    def run(data):
        begun = time.process_time()
        fit(data["X"])
        return {"CPU s": time.process_time() - begun}

    return run


def _umap_learn(X):
    import umap

    umap.UMAP(n_jobs=2).fit(X)


def _our_umap(X):
    from isentropic import UMAP

    UMAP(n_jobs=2).fit(X)


def _our_tsne(X):
    from isentropic import TSNE

    TSNE(n_jobs=2, max_iter=6 if len(X) == _WARM else 750).fit(X)


_WARM = 12_000  # rows of the map that is made before
_OPTIONS = {"warm_up": _WARM, "repeats": 1, "only_by_name": True}
_BESIDE = {"umap-learn": _mapped(_umap_learn), "isentropic": _mapped(_our_umap)}
_MILLION = bent_groups(1_000_000)
MAPS = {
    case.name: case
    for case in (
        Case("UMAP, 100,000 x 50", bent_groups(100_000), _BESIDE, **_OPTIONS),
        Case("UMAP, 1,000,000 x 50", _MILLION, {"isentropic": _mapped(_our_umap)}, **_OPTIONS),
        Case("t-SNE, 1,000,000 x 50", _MILLION, {"isentropic": _mapped(_our_tsne)}, **_OPTIONS),
    )
}
CASES = {**REPORTS, **MAPS}


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
    """Measure every report (or the cases named), print and keep each table."""
    for name in names or REPORTS:
        load = os.getloadavg()[0]
        if name in MAPS:
            table = _table(name, f"{_day()}, {_conditions(1, load)}", _take_turns(__spec__.name, MAPS[name]))
            print(table, flush=True)
            _keep(__spec__.name, HEADING, list(CASES), name, table)
            continue
        found = measured(REPORTS[name]())
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
