"""Entropic methods against ISOMAP on the same graph, the two forms of a patch, KDE-ISOMAP.

    python -m benchmarks.entropic [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with texture, wine and the MNIST files.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from .isomap import digits
from .runner import Case, run_cases

SCRIPT_SECONDS = 31.0  # of the published program on Wine: a stated figure, not measured here
K = 20


def file(name, n=None):
    def data():
        import pandas as pd

        frame = pd.read_csv(Path(os.environ["ISENTROPIC_DATA"]) / f"{name}.csv")
        X = frame.iloc[:n, :-1].to_numpy(float)
        return {"X": (X - X.mean(axis=0)) / X.std(axis=0)}

    return data


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the small part used to warm up is in pieces
        return model.fit(X)


def isomap(data):
    from isentropic import Isomap

    return {"residual variance": fitted(Isomap(K), data["X"]).residual_variance_}


def entropic(data):
    from isentropic import EntropicIsomap

    return {"residual variance": fitted(EntropicIsomap(K), data["X"]).residual_variance_}


def patches(form):
    """Divergences on all edges, neighbours included, shortest paths not."""

    def run(data):
        from isentropic import Knn
        from isentropic.divergences import EDGE_DIVERGENCES, patch_gaussians, patch_members
        from isentropic.neighbors import nearest_neighbors

        X = data["X"]
        members = patch_members(nearest_neighbors(X, Knn(K)).indices)
        heads, tails = np.repeat(np.arange(len(X)), K), members[:, 1:].ravel()
        gaussians = patch_gaussians(X, members, regularization=0.1, form=form, n_edges=len(heads))
        return {"mean divergence": EDGE_DIVERGENCES["kl"](gaussians, heads, tails).mean()}

    return run


def kde(percentile):
    def run(data):
        from isentropic import KDEIsomap

        model = fitted(KDEIsomap(percentile), data["X"])
        return {"edges": len(model.graph_.indices) // 2, "first eigenvalue": model.eigenvalues_[0]}

    return run


AGAINST_ISOMAP = {"Isomap": isomap, "EntropicIsomap": entropic}

CASES = {
    case.name: case
    for case in (
        Case("texture, n = 5,000, m = 40, k = 20", file("texture", 5000), AGAINST_ISOMAP, repeats=2),
        Case("digits, n = 5,000, m = 784, k = 20", digits(5000), AGAINST_ISOMAP, repeats=2),
        Case("forms of a patch, digits, n = 300, m = 784, k = 20", digits(300),
             {"full": patches("full"), "low rank": patches("low-rank")}, warm_up=30, repeats=1),
        Case(f"KDEIsomap, wine, p = 10 (the published program: {SCRIPT_SECONDS:.0f} s)", file("wine"),
             {"KDEIsomap": kde(10)}),
        Case("KDEIsomap, texture, n = 5,000, p = 1", file("texture", 5000), {"KDEIsomap": kde(1)}, repeats=1),
    )
}  # fmt: skip

if __name__ == "__main__":
    run_cases("benchmarks.entropic", CASES)
