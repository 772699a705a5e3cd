"""ISOMAP, its variants and maximum variance unfolding on the roll: time, and how far each is from the sheet.

    python -m benchmarks.unfolding [CASE ...]

There is no peer for the unfolding, nor for the variants: ratios refer to ISOMAP on the same rows. The misfit
is the Procrustes error against the flat sheet, as a share of its variance; the roll of 400 rows is one that
ISOMAP unrolls with 6 neighbours.
"""

from __future__ import annotations

import time

import numpy as np

from .runner import Case, run_cases


def roll(n, seed):
    def data():
        from sklearn.datasets import make_swiss_roll

        X, angle = make_swiss_roll(n, random_state=seed)
        length = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
        return {"X": X, "sheet": np.column_stack([length, X[:, 1]])}

    return data


def ours(name, **params):
    def run(data):
        import warnings

        from scipy.spatial import procrustes

        from isentropic import make

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the small part used to warm up may be in pieces
            start = time.process_time()
            fitted = make(name, n_neighbors=6, **params).fit(data["X"])
            seconds = time.process_time() - start
        misfit = procrustes(data["sheet"], fitted.embedding_)[2]
        violated = getattr(fitted, "violation_", float("nan"))
        return {"CPU seconds": seconds, "misfit": misfit, "violation": violated}

    return run


VARIANTS = {name: ours(name) for name in ("isomap", "c-isomap", "kernel-isomap", "mvu")}
LARGE = {"isomap": ours("isomap"), "mvu, 200 landmarks": ours("mvu", n_landmarks=200)}
CASES = {
    case.name: case
    for case in (
        Case("roll, n = 400", roll(400, 1), VARIANTS),
        Case("roll, n = 1,500", roll(1_500, 0), VARIANTS),
        Case("roll, n = 5,000", roll(5_000, 0), {**LARGE, "mvu": ours("mvu")}, repeats=1),
        Case("roll, n = 20,000", roll(20_000, 0), LARGE, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.unfolding", CASES)
