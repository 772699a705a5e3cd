"""The first call after an installation: CPU seconds with no compiled code, and in a later process.

    python -m benchmarks.cold_start [CASE ...]

Each contender runs twice in fresh processes that share one cache folder, empty before the first. The seconds
are those of the whole process and of the workers that it starts, imports included, in user and system mode.
What compiles is counted by numba's events in all of them, each function without those that it calls.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .runner import _conditions, _day, _heading, _keep, answer_help

# Python imports a module of this name at its start. It waits for numba, and then writes a line per function.
_LISTENER = """
import importlib.util, os, sys, time

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "numba.core.event":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            listen(module)
        spec.loader.exec_module = exec_module
        return spec

def listen(event):
    log, running = os.open(os.environ["COMPILED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT), []
    class Listener(event.Listener):
        def on_start(self, event):
            running.append([time.thread_time(), 0.0])
        def on_end(self, event):
            start, inside = running.pop()
            seconds = time.thread_time() - start
            if running:
                running[-1][1] += seconds
            function = event.data["dispatcher"].py_func
            os.write(log, f"{seconds - inside:.4f} {function.__module__}.{function.__name__}\\n".encode())
    event.register("numba:compile", Listener())

sys.meta_path.insert(0, Finder())
"""

_REMARKS = """CPU seconds of whole processes and their workers, user and system, imports included.

numba alone makes machine code and wrappers of helpers too, which kernels inline, while Python's collector
runs: two fifths more compilation than here. Two attempts were not kept:

- Helpers that are not optimized before they are inlined, or by only the first of numba's two passes: a fifth
  less compilation of `assess` and SDD. But SDD then runs 1.4 times as long, and bits of t-SNE and SDD change.
- Compiled kernels in a wheel: 64 MB in 885 files, for one version each of Python, numba and llvmlite. They
  need one processor for all machines (`NUMBA_CPU_NAME=x86-64-v3`), which costs t-SNE 9%.

A report of fewer than 500 rows is one process. In larger ones a process claims what it compiles, and the
others wait for it: their cores are all in use, so that no process compiles in the background."""

_DIGITS = "from sklearn.datasets import load_digits; X = load_digits().data; "
_OURS = _DIGITS + "from isentropic import make; make({!r}, n_jobs=1).fit(X)"
_REPORT = ("-m", "isentropic", "report", "builtin:iris", "--quiet", "--preset")


@dataclass(frozen=True)
class Case:
    """Processes by the name of the contender, the peer first: what follows ``python`` on the command line."""

    contenders: dict[str, tuple[str, ...]]


def _code(text: str) -> tuple[str, ...]:
    return "-c", text


CASES = {
    "first fit of digits, 1,797 x 64": Case({
        "umap-learn": _code(_DIGITS + "from umap import UMAP; UMAP(n_jobs=1).fit(X)"),
        "openTSNE": _code(_DIGITS + "from openTSNE import TSNE; TSNE(n_jobs=1).fit(X)"),
        "pacmap": _code(_DIGITS + "from pacmap import PaCMAP; PaCMAP().fit_transform(X)"),
        **{f"isentropic {name}": _code(_OURS.format(name)) for name in
           ("umap", "t-sne", "isomap", "pacmap", "sdd")},
    }),
    "first measures and reports": Case({
        "assess, digits": _code(_DIGITS + "from isentropic.quality import assess; assess(X, X[:, [20, 30]])"),
        "report of iris, quick": (*_REPORT, "quick"),
        "report of iris, standard": (*_REPORT, "standard"),
    }),
}  # fmt: skip


def cpu_seconds(command: tuple[str, ...], folder: Path) -> tuple[float, list[float]]:
    """CPU seconds of a process, and those of each function that it and its workers compile."""
    (folder / "sitecustomize.py").write_text(_LISTENER, encoding="utf-8")
    log = folder / "compiled"
    log.write_text("", encoding="utf-8")
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    given = {"NUMBA_CACHE_DIR": str(folder / "cache"), "COMPILED": str(log), "PYTHONPATH": paths}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE", **given},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = log.read_text(encoding="utf-8").splitlines()
    return seconds, [float(line.split()[0]) for line in lines]


def _rows(case: Case) -> list[list[str]]:
    rows, peers = [], 0.0
    for contender, command in case.contenders.items():
        with tempfile.TemporaryDirectory() as name:
            first, compiled = cpu_seconds(command, Path(name))
            later, again = cpu_seconds(command, Path(name))
        peers = peers or first
        rows.append([
            contender, f"{first:.1f}", f"{first / peers:.2f}", f"{later:.1f}",
            f"{sum(compiled):.1f}", str(len(compiled)), f"{sum(again):.1f}",
        ])  # fmt: skip
    return rows


def main() -> None:
    answer_help(__doc__, CASES)
    versions = _heading(("umap-learn", "openTSNE", "pacmap", "numba", "llvmlite")).partition(" Runs in")[0]
    for name in sys.argv[1:] or CASES:
        conditions = _conditions(1, os.getloadavg()[0])
        header = [
            "contender",
            "first",
            "of the first line's",
            "later",
            "compiling",
            "functions",
            "compiling later",
        ]
        rows = [header, ["---"] * len(header), *_rows(CASES[name])]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        table = f"**{name}** ({_day()}, {conditions})\n\n{table}\n"
        print(table, flush=True)
        _keep("benchmarks.cold_start", f"{versions} {_REMARKS}", list(CASES), name, table)


if __name__ == "__main__":
    main()
