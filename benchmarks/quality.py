"""Quality of a map against scikit-learn, zadu, pyDRMetrics and scipy: digits, 50 principal components to 2.

    python -m benchmarks.quality [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files; zadu and pyDRMetrics take part where they are
installed. scikit-learn and zadu compute some measures for one k, isentropic all of them for every k, and
scores of every row. Kendall's tau is that of all pair distances, which both contenders measure themselves.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .runner import Case, run_cases

K = 10


def digits(n, n_features=50):
    def data():
        from sklearn.decomposition import PCA

        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"]) / "MNIST"
        parts = [load(str(folder / f"{part}-images-idx3-ubyte.gz")).X for part in ("train", "t10k")]
        images = np.concatenate(parts)[:n]
        components = PCA(50, svd_solver="covariance_eigh").fit_transform(images)
        X = components if n_features == 50 else images
        return {"X": X, "Z": np.ascontiguousarray(components[:, :2])}

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

    measures = assess(data["X"], data["Z"], n_neighbors=K).measures  # all of them
    figures = {}
    for short, name in (
        ("T(10)", f"trustworthiness({K})"),
        ("C(10)", f"continuity({K})"),
        ("tau", "kendall_tau"),
    ):
        measure = measures[name]
        figures[short] = measure.value
        figures[f"width of {short}"] = 0.0 if measure.exact else measure.high - measure.low
    return figures


def scipy_tau(data):
    from scipy.spatial.distance import pdist
    from scipy.stats import kendalltau

    return {"tau": kendalltau(pdist(data["X"]), pdist(data["Z"])).statistic}


def our_tau(n_jobs):
    def run(data):
        from isentropic.quality import kendall_tau

        return {"tau": kendall_tau(data["X"], data["Z"], n_pairs=None, n_jobs=n_jobs).value}

    return run


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

TAU = {"scipy": scipy_tau, "isentropic": our_tau(None), "isentropic, n_jobs=1": our_tau(1)}
SAMPLED = {"isentropic, every measure, sampled": ours_sampled}
VERSIONS = (
    "scikit-learn",
    "scipy",
    "numpy",
    "numba",
    *(name for name in ("zadu", "pyDRMetrics") if find_spec(name)),
)

CASES = {
    case.name: case
    for case in (
        Case("curves, n = 5,000", digits(5_000), ONE_K, peers=VERSIONS),
        Case("curves, n = 10,000", digits(10_000), ONE_K),
        Case("curves of other packages, n = 5,000", digits(5_000), {**PEERS, **OURS}, repeats=1),
        Case("tau, n = 5,000", digits(5_000), TAU),
        Case("tau, n = 10,000", digits(10_000), TAU, repeats=1),
        Case("sampled, n = 70,000", digits(70_000), SAMPLED, repeats=1),
        Case("sampled, n = 70,000, 784 features", digits(70_000, 784), SAMPLED, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.quality", CASES)
