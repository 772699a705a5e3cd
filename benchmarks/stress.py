"""Metric and nonmetric MDS and Sammon's mapping beside scikit-learn: stress, tau, CPU seconds.

    python -m benchmarks.stress [CASE ...]

scikit-learn takes its best of four random starts, as it does by default; with its start at classical scaling
it takes one. Stress is recomputed from the maps by one formula. Digits need the data folder
(ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import time

import numpy as np

from .runner import Case, run_cases
from .sdd import cancer, digits, iris, small_digits, tau


def wine():
    from sklearn.datasets import load_wine

    return {"X": load_wine().data}


def thousand_digits():
    return {"X": small_digits()["X"][:1000]}


# ---- contenders --------------------------------------------------------------------------------


def timed(fit):
    """A map, and the CPU seconds of all threads that it took."""
    started = time.process_time()
    Z = fit()
    return Z, time.process_time() - started


def stress(X, Z):
    from scipy.spatial.distance import pdist

    d, e = pdist(X), pdist(Z)
    return float(((d - e) ** 2).sum() / (d**2).sum())


def stress_1(X, Z):
    """Kruskal's, primary ties."""
    from scipy.spatial.distance import pdist
    from sklearn.isotonic import isotonic_regression

    d, e = np.round(pdist(X), 9), pdist(Z)
    order = np.lexsort((e, d))
    return float(np.sqrt(((e[order] - isotonic_regression(e[order])) ** 2).sum() / (e**2).sum()))


def ours(name, measure, **parameters):
    def run(data):
        from isentropic import make

        Z, seconds = timed(lambda: make(name, **parameters).fit_transform(data["X"]))
        return measure(data["X"], Z) | {"CPU s": seconds}

    return run


def theirs(measure, **parameters):
    def run(data):
        from sklearn.manifold import MDS

        model = MDS(2, random_state=0, n_jobs=1, **parameters)
        Z, seconds = timed(lambda: model.fit_transform(data["X"]))
        return measure(data["X"], Z) | {"CPU s": seconds}

    return run


def cost_of_many(data):
    """70,000 rows: the cost over the pairs that were drawn, and over others."""
    from isentropic import MetricMDS

    X = data["X"]
    model = MetricMDS()
    Z, seconds = timed(lambda: model.fit_transform(X))
    rng = np.random.default_rng(1)
    first, second = rng.integers(len(X), size=(2, 200_000))
    missed = kept = 0.0
    for part in np.split(np.arange(len(first)), 100):  # all at once would be the peak of the memory
        d = np.linalg.norm(X[first[part]] - X[second[part]], axis=1)
        e = np.linalg.norm(Z[first[part]] - Z[second[part]], axis=1)
        missed, kept = missed + ((d - e) ** 2).sum(), kept + (d**2).sum()
    other = float(missed / kept)
    return {"cost": model.cost_, "over other pairs": other, "steps": model.n_iter_, "CPU s": seconds}


def sammon(data):
    from isentropic import Sammon

    model = Sammon()
    _, seconds = timed(lambda: model.fit_transform(data["X"]))
    return {"E": model.cost_, "steps": model.n_iter_, "CPU s": seconds}


def metric_figures(X, Z):
    return {"stress": stress(X, Z), "tau": tau(X, Z)}


def nonmetric_figures(X, Z):
    return {"stress-1": stress_1(X, Z)}


METRIC = {
    "scikit-learn, 4 starts": theirs(metric_figures, metric_mds=True, init="random", n_init=4),
    "scikit-learn, classical": theirs(metric_figures, metric_mds=True, init="classical_mds", n_init=1),
    "isentropic": ours("metric-mds", metric_figures),
}
_NONMETRIC = {"metric_mds": False, "normalized_stress": True}
NONMETRIC = {
    "scikit-learn, classical": theirs(nonmetric_figures, init="classical_mds", n_init=1, **_NONMETRIC),
    "isentropic": ours("nonmetric-mds", nonmetric_figures),
}
MANY = {"isentropic": cost_of_many}
SAMMON = {"isentropic": sammon}

CASES = {
    case.name: case
    for case in (
        Case("metric MDS, iris", iris, METRIC, warm_up=60, repeats=1),
        Case("metric MDS, breast cancer", cancer, METRIC, warm_up=60, repeats=1),
        Case("metric MDS, 2,500 digits", digits(2_500), METRIC, warm_up=320, repeats=1),
        Case(
            "metric MDS, 70,000 digits",
            digits(70_000),
            {"isentropic": cost_of_many},
            warm_up=8_100,
            repeats=1,
        ),
        Case("nonmetric MDS, 1,000 small digits", thousand_digits, NONMETRIC, warm_up=320, repeats=1),
        Case("Sammon, iris", iris, SAMMON, warm_up=60, repeats=1),
        Case("Sammon, wine", wine, SAMMON, warm_up=60, repeats=1),
        Case("Sammon, breast cancer", cancer, SAMMON, warm_up=60, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.stress", CASES)
