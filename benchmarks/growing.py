"""Maps that grow: a path over k against separate fits, rows appended against a fit on all.

    python -m benchmarks.growing [CASE ...]

``cpu`` are processor seconds of all threads, which a busy machine changes less than the time.
"""

from __future__ import annotations

import time

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


def refitted(n_new):
    def run(arrays):
        from isentropic import Isomap

        X = arrays["X"]
        Isomap().fit(X[:-n_new])  # as the other does before it appends
        began = time.process_time()
        model = Isomap().fit(X)
        return {"cpu": time.process_time() - began, "map": model.embedding_}

    return run


def appended(n_new):
    def run(arrays):
        from isentropic import Isomap

        X = arrays["X"]
        model = Isomap().fit(X[:-n_new])
        began = time.process_time()
        model.partial_fit(X[-n_new:])
        share = np.round(model.update_.affected, 4)
        return {"cpu": time.process_time() - began, "affected": float(share), "map": model.embedding_}

    return run


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
            for name, data in (("roll, n = 5,000", roll(5000)), ("digits", digits))
            for b in (1, 10, 100)
        ),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.growing", CASES)
