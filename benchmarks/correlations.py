"""Kendall's tau of all pair distances against scipy's, and estimated from drawn pairs.

    python -m benchmarks.correlations [CASE ...]

50 principal components of digits and their first two; the digits need the data folder (ISENTROPIC_DATA) with
the MNIST files. Both contenders start from the two tables, and so measure the distances too.
"""

from __future__ import annotations

import os
from pathlib import Path

from .runner import Case, run_cases


def digits(n, n_features=50):
    def data():
        from sklearn.decomposition import PCA

        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"])
        names = ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz")
        import numpy as np

        images = np.vstack([load(str(folder / "MNIST" / name)).X for name in names[: 1 + (n > 60_000)]])[:n]
        components = PCA(50, random_state=0).fit_transform(images)
        return {"X": components if n_features == 50 else images, "Z": components[:, :2].copy()}

    return data


def scipy_tau(data):
    from scipy.spatial.distance import pdist
    from scipy.stats import kendalltau

    return {"tau": kendalltau(pdist(data["X"]), pdist(data["Z"])).statistic}


def ours(n_jobs):
    def run(data):
        from isentropic.quality.correlations import kendall_tau

        return {"tau": kendall_tau(data["X"], data["Z"], n_pairs=None, n_jobs=n_jobs).value}

    return run


def ours_drawn(data):
    from isentropic.quality.correlations import kendall_tau

    found = kendall_tau(data["X"], data["Z"], n_pairs="auto" if len(data["X"]) > 20_000 else 2**20)
    return {"tau": found.value, "width of the interval": found.high - found.low}


EXACT = {"scipy": scipy_tau, "isentropic": ours(None), "isentropic, n_jobs=1": ours(1)}

CASES = {
    case.name: case
    for case in (
        Case("tau, n = 5,000", digits(5_000), EXACT),
        Case("tau, n = 10,000", digits(10_000), EXACT, repeats=1),
        Case("drawn pairs, n = 70,000, 784 features", digits(70_000, 784), {"isentropic": ours_drawn}),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.correlations", CASES)
