"""Local spectral methods against scikit-learn's on the roll: LLE, modified LLE, LTSA and Hessian LLE.

    python -m benchmarks.spectral [CASE ...]

Patches of LTSA hold their own rows here and not there, and what is called Hessian LLE there is LTSA: these
maps differ. The misfit says how far a map is from an affine image of the sheet, as a share of its variance.
"""

from __future__ import annotations

import time

import numpy as np

from .runner import Case, run_cases

NEIGHBORS = 12


def roll(n):
    def data():
        from sklearn.datasets import make_swiss_roll

        X, angle = make_swiss_roll(n, random_state=0)
        length = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
        return {"X": X, "sheet": np.column_stack([length, X[:, 1]])}

    return data


def measured(fit, data):
    """The map, of unit length, with the CPU seconds that it took and its misfit."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the small part used to warm up may be in pieces
        start = time.process_time()
        Z = fit(data["X"])
        seconds = time.process_time() - start
    Z, sheet = Z - Z.mean(axis=0), data["sheet"] - data["sheet"].mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=0)
    left = sheet - Z @ np.linalg.lstsq(Z, sheet)[0]
    return {"map": Z, "CPU seconds": seconds, "misfit": (left**2).sum() / (sheet**2).sum()}


def scikit_learn(method):
    def run(data):
        from sklearn.manifold import LocallyLinearEmbedding

        return measured(LocallyLinearEmbedding(n_neighbors=NEIGHBORS, method=method).fit_transform, data)

    return run


def ours(name, n_jobs=None):
    def run(data):
        from isentropic import make

        return measured(make(name, n_neighbors=NEIGHBORS, n_jobs=n_jobs).fit_transform, data)

    return run


def contenders(name, peer):
    return {
        "scikit-learn": scikit_learn(peer),
        "isentropic": ours(name),
        "isentropic, n_jobs=1": ours(name, 1),
    }


PEERS = {"lle": "standard", "modified-lle": "modified", "ltsa": "ltsa", "hessian-lle": "hessian"}
CASES = {
    case.name: case
    for case in (
        Case(f"{name}, n = {n:,}", roll(n), contenders(name, peer), warm_up=1000)
        for name, peer in PEERS.items()
        for n in (2_000, 5_000, 20_000)
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.spectral", CASES)
