"""Ten million rows in Parquet files: fitted to a sample, all mapped, each method in a process of its own.

    python -m benchmarks.scale FOLDER [ROWS] [CASE ...]

FOLDER gets the files once (ROWS of 20 columns, 10,000,000 by default, in files of 200,000) and the maps,
which are made anew. The peak is the largest resident size of a process, workers included. Beside them
umap-learn, fitted to rows of the same sample, maps 70,000 rows of the first file in batches of two sizes.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .runner import _conditions, _day, _keep, answer_help

_FILE_ROWS, _COLUMNS = 200_000, 20
_FITTED = 4_000  # rows of umap-learn's fit
CASES = {
    "pca, exact": ["-m", "pca", "--fit-rows", "all"],
    "pca, exact, one thread": ["-m", "pca", "--fit-rows", "all", "--jobs", "1"],
    "umap": ["-m", "umap"],
    "umap, 1 worker": ["-m", "umap", "--fit-rows", "4000", "--cluster", "local:1"],
    "umap, 2 workers": ["-m", "umap", "--fit-rows", "4000", "--cluster", "local:2"],
    "landmark ISOMAP": ["-m", "landmark-isomap"],
    "parameter-free SDD": ["-m", "parameter-free-sdd", "--fit-rows", "2000"],
}
_HEADING = (
    f"`isentropic embed 'FOLDER/*.parquet' --out MAP`, {os.cpu_count()} cores, Python "
    f"{platform.python_version()}: imports, sample, fit and all rows. Rows a second count the mapping alone."
)


def write_files(folder: Path, n_rows: int) -> None:
    """Twelve curved clusters in 20 columns, single precision."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_rows // _FILE_ROWS):
        path = folder / f"{number:04}.parquet"
        if path.exists():
            continue
        draws = np.random.default_rng([0, number])
        group = draws.integers(12, size=_FILE_ROWS)
        t = draws.uniform(-1, 1, size=(_FILE_ROWS, 3))
        centres = 3 * np.random.default_rng(1).normal(size=(12, _COLUMNS))
        bends = np.random.default_rng(2).normal(size=(2, 3, _COLUMNS))
        X = centres[group] + t @ bends[0] + t**2 @ bends[1] + 0.1 * draws.normal(size=(_FILE_ROWS, _COLUMNS))
        columns = [f"x{j}" for j in range(_COLUMNS)]
        frame = pd.DataFrame(X.astype(np.float32), columns=columns)
        frame.to_parquet(path, index=False, row_group_size=50_000)


def measured(rows: Path, out: Path, options: list[str]) -> dict[str, float]:
    """Seconds of the command, of the mapping in it, processor seconds, peak MiB, rows a second."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "isentropic", "embed", f"{rows}/*.parquet", "--out", str(out), "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)
    return {
        "seconds": seconds,
        "fitted rows": summary["fitted_rows"],
        "mapping s": summary["seconds"],
        "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "rows a second": summary["rows"] / summary["seconds"],
        "peak MiB": after.ru_maxrss / 1024,  # of the largest child so far
    }


def umap_learn(rows: Path) -> dict[str, float]:
    """The fit to a sample, one file in batches of 10,000 and of 7,000 rows, and how far a row moves."""
    import umap

    from isentropic.scale import sample_rows

    began = time.perf_counter()
    model = umap.UMAP(random_state=0, n_jobs=1).fit(sample_rows(rows, _FITTED).to_numpy())
    X = pd.read_parquet(rows / "0000.parquet").to_numpy()
    model.transform(X[:500])  # what is compiled
    start = time.perf_counter()
    Z = [
        np.concatenate([model.transform(X[i : i + s]) for i in range(0, 70_000, s)]) for s in (10_000, 7_000)
    ]
    took = time.perf_counter() - start
    moved = np.linalg.norm(Z[0] - Z[1], axis=1)
    return {
        "seconds": time.perf_counter() - began, "fitted rows": _FITTED, "mapping s": took,
        "CPU s": time.process_time(), "rows a second": 140_000 / took,
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rows that move with the batch": float((moved > 0).mean()),
        "median move, of the width": float(np.median(moved) / np.ptp(Z[0], axis=0).max()),
    }  # fmt: skip


def main() -> None:
    answer_help(__doc__, CASES, least=1)
    folder, *rest = sys.argv[1:]
    n_rows = (
        int(rest.pop(0).replace(",", "")) if rest and rest[0].replace(",", "").isdecimal() else 10_000_000
    )
    rows = Path(folder) / "rows"
    write_files(rows, n_rows)
    for name in rest or [*CASES, "umap-learn"]:
        beside = os.getloadavg()[0]
        if name == "umap-learn":
            found = umap_learn(rows)
        else:
            found = measured(rows, Path(folder) / "map", CASES[name])
        header = ["contender", *found]
        lines = [header, ["---"] * len(header), [name, *(f"{value:,.4g}" for value in found.values())]]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        title = f"{n_rows:,} rows, {name}"
        table = f"**{title}** ({_day()}, {_conditions(1, beside)})\n\n{text}\n"
        print(table, flush=True)
        _keep(
            "benchmarks.scale",
            _HEADING,
            [f"{n_rows:,} rows, {one}" for one in [*CASES, "umap-learn"]],
            title,
            table,
        )


if __name__ == "__main__":
    main()
