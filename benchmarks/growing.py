"""Maps that grow: a path over k against separate fits, rows appended against a fit on all.

    python -m benchmarks.growing [CASE ...]

``cpu`` are processor seconds of all threads, which a busy machine changes less than the time. Rows are
appended several times: the first call has nothing to repair, and is in ``longest`` only. The larger digits
need the data folder (ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from .runner import Case, run_cases

VALUES = (5, 6, 7, 8, 10, 12, 14, 17, 20, 24)


def roll(n):
    def data():
        from sklearn.datasets import make_swiss_roll

        return {"X": make_swiss_roll(n, random_state=0)[0]}

    return data


def digits():
    from isentropic.datasets import load

    return {"X": load("builtin:digits").X}


def many_digits(n):
    def data():
        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"])
        return {"X": load(str(folder / "MNIST" / "train-images-idx3-ubyte.gz")).X[:n]}

    return data


def fits(arrays):
    from isentropic import Isomap

    began = time.process_time()
    maps = [Isomap(n_neighbors=k, on_disconnected="bridge").fit(arrays["X"]) for k in VALUES]
    return {"cpu": time.process_time() - began, "map": maps[4].embedding_}


def path(arrays):
    from isentropic import isomap_path

    began = time.process_time()
    found = isomap_path(arrays["X"], VALUES)
    return {"cpu": time.process_time() - began, "map": found.embeddings[4]}


def chosen(together):
    def run(arrays):
        from isentropic import Isomap
        from isentropic.selection import select

        class Alone(Isomap):
            """Another class may fit otherwise: its sets are fitted one by one."""

        began = time.process_time()
        found = select(Isomap() if together else Alone(), arrays["X"], {"n_neighbors": VALUES})
        return {"cpu": time.process_time() - began, "chosen": found.params["n_neighbors"]}

    return run


def _timed(call):
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def _figures(model, taken, affected=1.0):
    """Of calls after the first, which finds nothing to repair: the median, and the longest of all."""
    (first, _), *others = taken
    cpu, wall = np.median(others, axis=0)
    longest = max(first, *(each for each, _ in others))
    return {"cpu a call": cpu, "longest": longest, "seconds a call": wall, "affected": affected,
            "map": model.embedding_}  # fmt: skip


def refitted(n_new):
    def run(arrays):
        from isentropic import Isomap

        X, model = arrays["X"], Isomap()
        return _figures(model, [_timed(lambda: model.fit(X)) for _ in range(4)])

    return run


def appended(n_new):
    def run(arrays):
        from isentropic import Isomap

        X, n_calls = arrays["X"], max(4, min(12, 400 // n_new))
        starts = len(X) - n_new * np.arange(n_calls, 0, -1)
        model, taken, shares = Isomap().fit(X[: starts[0]]), [], []
        for start in starts:
            more = X[start : start + n_new]
            taken.append(_timed(lambda more=more: model.partial_fit(more)))
            shares.append(model.update_.affected)
        return _figures(model, taken, float(np.median(shares[1:])))

    return run


def in_batches(size):
    """All rows in batches, from the first one on."""

    def run(arrays):
        from isentropic import Isomap

        X, model, kinds = arrays["X"], Isomap(), []
        began = time.process_time()
        for start in range(0, len(X), size):
            model.partial_fit(X[start : start + size])
            kinds.append(model.update_.kind)
        cpu = time.process_time() - began
        return {"cpu": cpu, "repaired": kinds.count("repaired") / len(kinds), "map": model.embedding_}

    return run


def fitted_once(arrays):
    from isentropic import Isomap

    began = time.process_time()
    model = Isomap().fit(arrays["X"])
    return {"cpu": time.process_time() - began, "repaired": 0.0, "map": model.embedding_}


CASES = {
    case.name: case
    for case in (
        Case("path, roll, n = 5,000", roll(5000), {"10 fits": fits, "isomap_path": path}, warm_up=1200),
        Case("path, digits", digits, {"10 fits": fits, "isomap_path": path}, warm_up=1200),
        *(
            Case(
                f"selection, {name}",
                data,
                {"each alone": chosen(False), "together": chosen(True)},
                warm_up=1200,
            )
            for name, data in (("roll, n = 3,000", roll(3000)), ("digits", digits))
        ),
        *(
            Case(
                f"{name}, {b} rows more", data, {"fit": refitted(b), "partial_fit": appended(b)}, warm_up=1200
            )
            for name, data in (("roll, n = 5,000", roll(5000)), ("digits, n = 5,000", many_digits(5000)))
            for b in (1, 10, 100)
        ),
        Case(
            "roll, n = 10,000, in 100 batches",
            roll(10_000),
            {"one fit": fitted_once, "partial_fit": in_batches(100)},
            repeats=1,
            only_by_name=True,
        ),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.growing", CASES)
