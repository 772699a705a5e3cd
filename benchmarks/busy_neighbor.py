"""Fits on two threads beside a process that keeps one core busy, as a browser does, and without it.

    python -m benchmarks.busy_neighbor [CASE ...]

Needs two cores or more, nothing else running, and the extra "peers". Fits with and without the busy process
take turns, three of each; "quiet s" and "busy s" are the medians, "lost" is what busy takes more.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from .runner import Arrays, Case, run_cases

PEERS = ("openTSNE", "umap-learn", "scikit-learn", "numba", "numpy")
_REPEATS = 3
_SECONDS = 120  # after which a busy process ends by itself


@contextmanager
def _busy_process() -> Iterator[None]:
    spin = f"import time; end = time.monotonic() + {_SECONDS}\nwhile time.monotonic() < end: pass"
    process = subprocess.Popen([sys.executable, "-c", spin])
    time.sleep(0.3)  # until it spins
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measured(fit: Callable[[Arrays], object]) -> Callable[[Arrays], dict[str, float]]:
    """A contender: seconds of a fit, quiet and busy in turns."""

    def run(data):
        warnings.simplefilter("ignore")
        fit(data)
        quiet, busy = [], []
        for _ in range(_REPEATS):
            for seconds, beside in ((quiet, nullcontext), (busy, _busy_process)):
                with beside():
                    began = time.perf_counter()
                    fit(data)
                    seconds.append(time.perf_counter() - began)
        least, most = statistics.median(quiet), statistics.median(busy)
        return {"quiet s": least, "busy s": most, "lost": most / least - 1}

    return run


def handwritten_digits() -> Arrays:
    from sklearn.datasets import load_digits

    return {"X": load_digits().data}


def open_tsne(data):
    import openTSNE

    return openTSNE.TSNE(random_state=0, n_jobs=2).fit(data["X"])


def umap_learn(data):
    import umap

    return umap.UMAP(n_jobs=2).fit(data["X"])


def ours(name):
    def fit(data):
        import isentropic

        return isentropic.make(name, random_state=0, n_jobs=2).fit(data["X"])

    return fit


def cases() -> Iterator[Case]:
    for title, peer, theirs, own in (
        ("t-SNE", "openTSNE", open_tsne, ours("t-sne")),
        ("UMAP", "umap-learn, no seed", umap_learn, ours("umap")),
    ):
        contenders = {peer: measured(theirs), "isentropic": measured(own)}
        yield Case(f"{title}, 1,797 digits", handwritten_digits, contenders, repeats=1, peers=PEERS)


CASES = {case.name: case for case in cases()}

if __name__ == "__main__":
    run_cases("benchmarks.busy_neighbor", CASES)
