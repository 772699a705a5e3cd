"""SDD against the published procedure, and its tau beside that of other methods.

    python -m benchmarks.sdd [CASE ...]

The published procedure is written here after its description: all pairs in square arrays, a small random
start, momentum 0.8, gains, a learning rate of 7, 2000 steps. The digits need the data folder
(ISENTROPIC_DATA) with the MNIST files; UMAP takes part where it is installed.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np

from .runner import Case, run_cases

# ---- data --------------------------------------------------------------------------------------


def iris():
    from sklearn.datasets import load_iris

    return {"X": load_iris().data}


def cancer():
    from sklearn.datasets import load_breast_cancer

    return {"X": load_breast_cancer().data}


def roll():
    """Four clusters of 400 points, rolled up."""
    rng = np.random.default_rng(0)
    centres = [(a, b) for a in (7.5, 12.5) for b in (7.5, 12.5)]
    x, y = np.concatenate([centre + rng.normal(size=(400, 2)) for centre in centres]).T
    X = np.column_stack([x * np.cos(x), y, x * np.sin(x)])
    return {"X": X[rng.permutation(len(X))]}


def digits(n):
    def data():
        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"]) / "MNIST"
        X = load(str(folder / "train-images-idx3-ubyte.gz")).X
        if n > len(X):
            X = np.concatenate([X, load(str(folder / "t10k-images-idx3-ubyte.gz")).X])
        return {"X": X[:n]}

    return data


def small_digits():
    from sklearn.datasets import load_digits

    return {"X": load_digits().data}


def clusters(n):
    """Ten Gaussian clusters of different widths in 20 features."""

    def data():
        rng = np.random.default_rng(0)
        centres, widths = rng.normal(size=(10, 20)) * 3, rng.uniform(0.3, 2.0, size=10)
        label = rng.integers(10, size=n)
        return {"X": centres[label] + widths[label, None] * rng.normal(size=(n, 20))}

    return data


# ---- contenders --------------------------------------------------------------------------------


def published(data):
    """Parameter-free SDD as published."""
    from scipy.spatial.distance import pdist, squareform

    X = data["X"]
    n, degree = len(X), 1
    D = squareform(pdist(X))
    D *= 2.0 / D.max()
    P = (1 + D**2) ** -degree
    np.fill_diagonal(P, 0)
    P /= P.sum()
    rng = np.random.RandomState(0)
    Y = 1e-4 * rng.standard_normal((n, 2))
    step, gains = np.zeros_like(Y), np.ones_like(Y)
    for _ in range(2000):
        norms = (Y * Y).sum(axis=1)
        inverse = 1 / (1 + norms[:, None] + norms - 2 * Y @ Y.T)
        np.fill_diagonal(inverse, 0)
        Q = inverse**degree
        Q /= Q.sum()
        force = (P - Q) * inverse
        gradient = 4 * (degree + 1) * (force.sum(axis=1)[:, None] * Y - force @ Y)
        agree = (gradient > 0) == (step > 0)
        gains = np.maximum(np.where(agree, 0.8 * gains, gains + 0.2), 0.01)
        step = 0.8 * step - 7.0 * gains * gradient
        Y = Y + step
        Y -= Y.mean(axis=0)
    return {"tau": tau(X, Y)}


def tau(X, Z):
    from scipy.spatial.distance import pdist
    from scipy.stats import kendalltau

    return float(kendalltau(pdist(X), pdist(Z)).statistic)


def ours(name, **parameters):
    def run(data):
        from isentropic import make

        sdd = make(name, **parameters).fit(data["X"])
        low, high = sdd.kendall_tau_interval_ or (np.nan, np.nan)
        return {"tau": sdd.kendall_tau_, "from": low, "to": high, "steps": sdd.n_iter_}

    return run


def only_tau(name, **parameters):
    def run(data):
        return {"tau": ours(name, **parameters)(data)["tau"]}

    return run


def mapped_by(make_estimator):
    def run(data):
        return {"tau": tau(data["X"], make_estimator().fit_transform(data["X"]))}

    return run


def pca():
    from sklearn.decomposition import PCA

    return PCA(2)


def metric_mds():
    from sklearn.manifold import MDS

    return MDS(2, n_init=1, init="random", random_state=0, normalized_stress="auto")


def tsne():
    from sklearn.manifold import TSNE

    return TSNE(2, random_state=0)


def umap():
    from umap import UMAP

    return UMAP(random_state=0)


def pca_of_many(data):
    """Tau estimated from the same drawn pairs as that of SDD."""
    from isentropic import make
    from isentropic.embedding.row_distances import table_tau

    X = data["X"]
    found = table_tau(X, make("pca").fit_transform(X))
    low, high = found.interval or (np.nan, np.nan)
    return {"tau": found.value, "from": low, "to": high, "steps": 0}


def seconds_of_a_step(data):
    """Steps over drawn pairs alone, their distances known."""
    import time

    from isentropic.embedding.row_distances import Distances, sampled_shifts
    from isentropic.objectives import SameDegree

    X = data["X"]
    distances = Distances.of(X, "euclidean", random_state=0, n_jobs=None)
    pairs = distances.sample(sampled_shifts(len(X), 64, 0), np.random.default_rng(0).permutation(len(X)))
    objective = SameDegree(pairs, unit=20.0, degrees=[1.0])
    Z = X[:, :2] / 20.0
    objective(Z)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        objective(Z)
        taken.append(time.perf_counter() - start)
    return {"milliseconds a step": 1e3 * float(np.median(taken)), "of a row, ns": 1e9 * min(taken) / len(X)}


def parametric(data):
    """A network taught on one half: tau of its map of the other half, and of the map that it learnt."""
    from isentropic import ParametricEmbedding
    from isentropic.embedding.row_distances import table_tau

    X = np.random.default_rng(0).permutation(data["X"])  # odd and even rows of MNIST differ
    train, test = X[::2], X[1::2]
    network = ParametricEmbedding().fit(train)
    return {
        "tau of the taught half": table_tau(train, network.target_embedding_).value,
        "held out": network.score(test),
    }


def searched(**parameters):
    """How many degrees were tried on all rows, and the processor seconds of that."""

    def run(data):
        import time

        from isentropic import SDD

        start = time.process_time()
        sdd = SDD(**parameters).fit(data["X"])
        return {
            "tau": sdd.kendall_tau_,
            "degree": sdd.degree_,
            "tried": len(sdd.scores_),
            "CPU s": time.process_time() - start,
        }

    return run


DEGREES = {
    "every degree": searched(degree=range(1, 16)),
    "search": searched(),
    "one degree": searched(degree=1),
}
PROCEDURES = {"published": published, "isentropic": only_tau("parameter-free-sdd")}
FAITHFUL = {
    "PCA": mapped_by(pca),
    "metric MDS": mapped_by(metric_mds),
    "t-SNE": mapped_by(tsne),
    **({"UMAP": mapped_by(umap)} if importlib.util.find_spec("umap") else {}),
    "parameter-free SDD": only_tau("parameter-free-sdd"),
    "SDD, best degree": only_tau("sdd"),
    "MultiSDD": only_tau("multi-sdd"),
}
EXACT = {"parameter-free SDD": only_tau("parameter-free-sdd", pairs="all")}
EXACT_AND_DRAWN = {**EXACT, "with 128 partners": only_tau("parameter-free-sdd", pairs=128)}
MANY = {"PCA": pca_of_many, "parameter-free SDD": ours("parameter-free-sdd")}
ONE_STEP = {"64 shifts": seconds_of_a_step}

CASES = {
    case.name: case
    for case in (
        Case("procedure, n = 569", cancer, PROCEDURES, repeats=3),
        Case("procedure, n = 1,600", roll, PROCEDURES, repeats=1),
        Case("tau on iris", iris, FAITHFUL, warm_up=60, repeats=1),
        Case("tau on breast cancer", cancer, FAITHFUL, warm_up=60, repeats=1),
        Case("tau on the roll of four clusters", roll, FAITHFUL, warm_up=60, repeats=1),
        Case("tau on 2,500 digits", digits(2_500), FAITHFUL, warm_up=60, repeats=1),
        Case("the best degree, 1,797 small digits", small_digits, DEGREES, warm_up=1_200, repeats=1),
        Case("the best degree, 2,500 digits", digits(2_500), DEGREES, warm_up=1_200, repeats=1),
        Case("all pairs and drawn ones, n = 5,000", digits(5_000), EXACT_AND_DRAWN, repeats=1),
        Case("70,000 digits", digits(70_000), MANY, repeats=1),
        Case("a step, n = 100,000", clusters(100_000), ONE_STEP, warm_up=1_000, repeats=1),
        Case("a step, n = 200,000", clusters(200_000), ONE_STEP, warm_up=1_000, repeats=1),
        Case("a step, n = 400,000", clusters(400_000), ONE_STEP, warm_up=1_000, repeats=1),
        Case("a network, 1,797 small digits", small_digits, {"parametric": parametric}, repeats=1),
        Case("a network, 20,000 digits", digits(20_000), {"parametric": parametric}, repeats=1),
        Case("1,000,000 rows of 20 features", clusters(1_000_000), MANY, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.sdd", CASES)
