"""Quality of a map against scikit-learn, zadu and pyDRMetrics: digits, 50 principal components to 2.

    python -m benchmarks.quality [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files; zadu and pyDRMetrics take part where they are
installed. scikit-learn and zadu compute some measures for one k, isentropic all of them for every k, and
scores of every row.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .runner import Case, run_cases

K = 10


def digits(n):
    def data():
        from sklearn.decomposition import PCA

        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"]) / "MNIST"
        parts = [load(str(folder / f"{part}-images-idx3-ubyte.gz")).X for part in ("train", "t10k")]
        X = PCA(50, svd_solver="covariance_eigh").fit_transform(np.concatenate(parts)[:n])
        return {"X": X, "Z": np.ascontiguousarray(X[:, :2])}

    return data


def scikit_learn(data):
    from sklearn.manifold import trustworthiness

    return {"T(10)": trustworthiness(data["X"], data["Z"], n_neighbors=K)}


def zadu_three(data):
    from zadu import zadu

    specs = [{"id": name, "params": {"k": K}} for name in ("tnc", "mrre", "lcmc")]
    found = zadu.ZADU(specs, data["X"]).measure(data["Z"])
    return {"T(10)": found[0]["trustworthiness"]}


def pydrmetrics(data):
    from pyDRMetrics.pyDRMetrics import DRMetrics

    found = DRMetrics(data["X"], data["Z"])  # for every k, and not the standard value
    return {"T(10)": found.T[K - 1]}


def ours(n_jobs):
    def run(data):
        from isentropic.quality import assess

        found = assess(data["X"], data["Z"], n_neighbors=K, measures="ranks", n_jobs=n_jobs)
        return {"T(10)": found.at(K)["trustworthiness"].value}

    return run


def ours_sampled(data):
    from isentropic.quality import assess

    found = assess(data["X"], data["Z"], n_neighbors=K, measures="ranks").at(K)
    figures = {}
    for short, name in (("T(10)", "trustworthiness"), ("C(10)", "continuity")):
        measure = found[name]
        figures[short] = measure.value
        figures[f"width of {short}"] = 0.0 if measure.exact else measure.high - measure.low
    return figures


OURS = {"isentropic, every k": ours(None), "isentropic, every k, n_jobs=1": ours(1)}
ONE_K = {"scikit-learn, T at one k": scikit_learn, **OURS}
PEERS = {
    name: run
    for name, package, run in (
        ("pyDRMetrics", "pyDRMetrics", pydrmetrics),
        ("zadu, T, C, MRRE, LCMC at one k", "zadu", zadu_three),
    )
    if find_spec(package)
}

CASES = {
    case.name: case
    for case in (
        Case("digits, n = 5,000", digits(5_000), ONE_K, repeats=5),
        Case("digits, n = 10,000", digits(10_000), ONE_K),
        Case("peers, n = 5,000", digits(5_000), {**PEERS, **OURS}, repeats=1),
        Case("sampled, n = 70,000", digits(70_000), {"isentropic, sampled": ours_sampled}),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.quality", CASES)
