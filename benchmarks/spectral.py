"""Local spectral methods against scikit-learn's: LLE, modified LLE, LTSA and Hessian LLE.

    python -m benchmarks.spectral [CASE ...]

The digits, 50 principal components of them, need the data folder (ISENTROPIC_DATA) with the MNIST files.
"Added" is what a run takes above the level of the process after imports, data and a warm-up.

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


def digits(n):
    def data():
        from .mnist_data import digits

        return {"X": digits(n)[0]}

    return data


def measured(fit, data):
    """The map, of unit length, with the CPU seconds that it took and, of a sheet, its misfit."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the small part used to warm up may be in pieces
        start = time.process_time()
        Z = fit(data["X"])
        seconds = time.process_time() - start
    Z = Z - Z.mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=0)
    if "sheet" not in data:
        return {"map": Z, "CPU seconds": seconds}
    sheet = data["sheet"] - data["sheet"].mean(axis=0)
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
SIZES = (2_000, 5_000, 20_000)
LARGE = {"isentropic": ours("lle"), "isentropic, n_jobs=1": ours("lle", 1)}
CASES = {
    case.name: case
    for case in (
        *(
            Case(f"{name}, n = {n:,}", roll(n), contenders(name, peer), warm_up=1000)
            for name, peer in PEERS.items()
            for n in SIZES
        ),
        *(
            Case(f"{name}, digits, n = {n:,}", digits(n), contenders(name, PEERS[name]), warm_up=1000,
                 repeats=1 if n == max(SIZES) else 3)
            for name, sizes in {"lle": SIZES, "ltsa": SIZES[:2]}.items()
            for n in sizes
        ),
        Case("lle, n = 100,000", roll(100_000), LARGE, warm_up=1000, repeats=1),
    )
}  # fmt: skip

if __name__ == "__main__":
    run_cases("benchmarks.spectral", CASES)
