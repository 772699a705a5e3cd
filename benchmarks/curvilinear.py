"""CCA, CDA, DD-HDS, RankVisu, TCIE and manifold sculpting: their figures beside those of PCA and ISOMAP.

    python -m benchmarks.curvilinear [CASE ...]

Planted coordinates of a roll are its height and the length of its arc. Digits need the data folder
(ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import numpy as np

from .runner import Case, run_cases
from .sdd import digits, iris, tau
from .stress import timed


def small_roll():
    from sklearn.datasets import make_swiss_roll

    X, angle = make_swiss_roll(300, random_state=0)
    return {"X": X, "planted": np.column_stack([arc(angle), X[:, 1]])}


def larger_roll():
    from sklearn.datasets import make_swiss_roll

    X, angle = make_swiss_roll(1000, random_state=0)
    return {"X": X, "planted": np.column_stack([arc(angle), X[:, 1]])}


def wide_roll():
    from sklearn.datasets import make_swiss_roll

    return {"X": make_swiss_roll(10_000, random_state=0)[0]}


def cluster_roll():
    """Four clusters of 400 points, rolled up."""
    rng = np.random.default_rng(0)
    centres = [(a, b) for a in (7.5, 12.5) for b in (7.5, 12.5)]
    x, y = np.concatenate([centre + rng.normal(size=(400, 2)) for centre in centres]).T
    order = rng.permutation(len(x))
    X = np.column_stack([x * np.cos(x), y, x * np.sin(x)])
    return {"X": X[order], "planted": np.column_stack([arc(x), y])[order]}


def strip():
    """A strip of 30 x 12 with a hole of 14 x 8, bent into three quarters of a cylinder."""
    P = np.random.default_rng(0).uniform(size=(2700, 2)) * [30, 12]
    P = P[(np.abs(P[:, 0] - 15) > 7) | (np.abs(P[:, 1] - 6) > 4)][:900]
    turn = 1.5 * np.pi / 30
    return {
        "X": np.column_stack([np.cos(P[:, 0] * turn), P[:, 1] * turn, np.sin(P[:, 0] * turn)]) / turn,
        "planted": P,
    }


def arc(angle):
    """The length of the spiral of radius ``angle``."""
    return 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))


# ---- figures -----------------------------------------------------------------------------------


def neighbours_kept(data, Z, model):
    from isentropic.quality import continuity, trustworthiness

    figures = {"cost": model.cost_} if hasattr(model, "cost_") else {}
    kept = trustworthiness(data["X"], Z, n_neighbors=15), continuity(data["X"], Z, n_neighbors=15)
    return {"T(15)": float(kept[0]), "C(15)": float(kept[1]), **figures}


def planted_kept(data, Z, model):
    from scipy.spatial import procrustes

    return {
        "tau with planted": tau(data["planted"], Z),
        "Procrustes error": procrustes(data["planted"], Z)[2],
        **({"pairs kept": model.pair_share_} if hasattr(model, "pair_share_") else {}),
    }


def cost(data, Z, model):
    return {"cost": model.cost_, "tau": tau(data["X"], Z), "steps": model.n_iter_}


def zeta(k):
    """The cost of ranks within k of any map."""

    def figures(data, Z, model):
        from scipy.spatial.distance import pdist

        from isentropic.objectives import AllPairs, RankImages

        X = data["X"]
        value, _ = RankImages(AllPairs(len(X), pdist(X)), k)(np.ascontiguousarray(Z))
        return {"zeta": value}

    return figures


def ours(name, figures, **parameters):
    def run(data):
        from isentropic import make

        model = make(name, **parameters)
        Z, seconds = timed(lambda: model.fit_transform(data["X"]))
        return figures(data, Z, model) | {"CPU s": seconds}

    return run


def geodesic(k):
    from isentropic import Geodesic

    return Geodesic(k)


SHORT_RANGE = {
    "PCA": ours("pca", neighbours_kept),
    "CCA": ours("cca", neighbours_kept),
    "CCA, published rule": ours("cca", neighbours_kept, rule="stochastic"),
    "CDA": ours("cda", neighbours_kept),
    "CDA, published rule": ours("cda", neighbours_kept, rule="stochastic"),
}
UNROLLED = {
    "ISOMAP, 6 neighbours": ours("isomap", planted_kept, n_neighbors=6),
    "CDA, 6 neighbours": ours("cda", planted_kept, metric=geodesic(6)),
}
FLATTENED = {
    "ISOMAP": ours("isomap", planted_kept, n_neighbors=8),
    "all pairs": ours("metric-mds", planted_kept, metric=geodesic(8)),
    "TCIE": ours("tcie", planted_kept, n_neighbors=8),
}
RANKS = {
    "PCA": ours("pca", zeta(30)),
    "RankVisu": ours("rankvisu", zeta(30), n_neighbors=30),
}
FEW_RANKS = {
    "PCA": ours("pca", zeta(10)),
    "RankVisu": ours("rankvisu", zeta(10), n_neighbors=10),
}
WEIGHED = {
    "the start, PCA": ours("dd-hds", cost, max_iter=0),
    "DD-HDS": ours("dd-hds", cost),
}
SCULPTED = {
    "ISOMAP": ours("isomap", planted_kept, n_neighbors=12),
    "manifold sculpting, 5 tries": ours("manifold-sculpting", planted_kept, n_neighbors=12),
    "5 other tries": ours("manifold-sculpting", planted_kept, n_neighbors=12, random_state=1),
}

MANY_PATHS = {"CDA": ours("cda", neighbours_kept)}
CASES = {
    case.name: case
    for case in (
        Case("CCA and CDA, roll of 300", small_roll, SHORT_RANGE, warm_up=60, repeats=1),
        Case("CDA, roll of four clusters", cluster_roll, UNROLLED, warm_up=60, repeats=1),
        Case("CCA, 10,000 digits", digits(10_000), {"CCA": SHORT_RANGE["CCA"]}, warm_up=300, repeats=1),
        Case("CDA, roll of 10,000", wide_roll, MANY_PATHS, warm_up=300, repeats=1),
        Case("TCIE, strip with a hole", strip, FLATTENED, warm_up=100, repeats=1),
        Case("RankVisu, iris, k = 30", iris, RANKS, warm_up=60, repeats=1),
        Case("RankVisu, iris, k = 10", iris, FEW_RANKS, warm_up=60, repeats=1),
        Case("DD-HDS, iris", iris, WEIGHED, warm_up=60, repeats=1),
        Case("manifold sculpting, roll of 1,000", larger_roll, SCULPTED, warm_up=60, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.curvilinear", CASES)
