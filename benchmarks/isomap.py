"""ISOMAP against scikit-learn's: exact on the roll and on digits, landmarks on large rolls.

    python -m benchmarks.isomap [CASE ...]

The digits need the data folder (ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .runner import Case, run_cases


def roll(n):
    def data():
        from sklearn.datasets import make_swiss_roll

        X, angle = make_swiss_roll(n, random_state=0)
        return {"X": X, "angle": angle}

    return data


def digits(n):
    def data():
        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"])
        return {"X": load(str(folder / "MNIST" / "train-images-idx3-ubyte.gz")).X[:n]}

    return data


def scikit_learn(data):
    import warnings

    from sklearn.manifold import Isomap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the small part used to warm up is in pieces
        return {"map": Isomap(n_neighbors=10, n_components=2, n_jobs=-1).fit_transform(data["X"])}


def ours(n_jobs):
    def run(data):
        from isentropic import Isomap

        return {"map": Isomap(n_neighbors=10, n_jobs=n_jobs).fit_transform(data["X"])}

    return run


def ours_with_landmarks(data):
    from isentropic import Isomap

    X, angle = data["X"], data["angle"]
    Z = Isomap(n_neighbors=10, n_landmarks=min(500, len(X) - 1)).fit_transform(X)
    correlation = np.abs(np.corrcoef(np.column_stack([Z, angle, X[:, 1]]), rowvar=False))[:2, 2:]
    return {"correlation with the angle": correlation[:, 0].max(), "with the height": correlation[:, 1].max()}


EXACT = {"scikit-learn": scikit_learn, "isentropic": ours(None), "isentropic, n_jobs=1": ours(1)}
LANDMARKS = {"isentropic, 500 landmarks": ours_with_landmarks}

CASES = {
    case.name: case
    for case in (
        Case("roll, n = 5,000", roll(5_000), EXACT),
        Case("roll, n = 10,000", roll(10_000), EXACT),
        Case("digits, n = 5,000", digits(5_000), EXACT),
        Case("landmarks, n = 20,000", roll(20_000), LANDMARKS),
        Case("landmarks, n = 200,000", roll(200_000), LANDMARKS),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.isomap", CASES)
