"""The self-organising map against MiniSom, and generative topographic mapping against ugtm.

    python -m benchmarks.lattices [CASE ...]

Both peers come with the extra `peers`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from .runner import Case, run_cases

_SIDE = 10
_EPOCHS = 30


def digits():
    from sklearn.datasets import load_digits

    return {"X": load_digits().data}


def centred_digits():
    """As ugtm wants them: around 0, with a mean variance of 1."""
    X = digits()["X"]
    X = X - X.mean(axis=0)
    return {"X": X / np.sqrt((X**2).sum() / X.size)}


def minisom(data):
    from minisom import MiniSom

    X = data["X"]
    som = MiniSom(_SIDE, _SIDE, X.shape[1], random_seed=0)
    som.random_weights_init(X)
    som.train(X, _EPOCHS * len(X))
    return {"quantisation": som.quantization_error(X), "topographic": som.topographic_error(X)}


def our_som(data):
    from isentropic import SOM

    som = SOM(shape=(_SIDE, _SIDE), max_iter=_EPOCHS).fit(data["X"])
    return {"quantisation": som.quantization_error_, "topographic": som.topographic_error_}


def likelihood(X, centres, precision):
    """One function for both."""
    squares = (X**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * X @ centres.T
    each = logsumexp(-precision / 2 * squares, axis=1) - np.log(len(centres))
    varying = int((X.std(axis=0) > 0).sum())
    return {"log likelihood": float((each + varying / 2 * np.log(precision / (2 * np.pi))).sum())}


def ugtm(data):
    import ugtm

    fitted = ugtm.runGTM(data["X"], k=_SIDE, m=4, s=-1, regul=0.1, niter=200)
    return likelihood(data["X"], fitted.matY.T, 1 / fitted.betaInv)


def our_gtm(data):
    from isentropic import GTM

    fitted = GTM(n_nodes=_SIDE).fit(data["X"])
    return likelihood(data["X"], fitted.codebook_, fitted.precision_)


CASES = {
    case.name: case
    for case in (
        Case("SOM 10 x 10, digits", digits, {"minisom": minisom, "isentropic": our_som}),
        Case("GTM 10 x 10, digits", centred_digits, {"ugtm": ugtm, "isentropic": our_gtm}),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.lattices", CASES)
