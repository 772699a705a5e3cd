"""Training of a network: epochs until a part of the rows that is held back says that it is enough."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from .._runtime import one_blas_thread, row_blocks

_VALIDATION = 0.2  # share of the rows
_PATIENCE = 3  # epochs without progress
_FEWEST_TO_VALIDATE = 20  # rows: the share of fewer says nothing
_BATCH = 32  # rows
_RATES = (1e-3, 1e-4)  # of learning: the second, from where the first ends, takes the noise out
_INTERRUPTED = "Training interrupted by user"


def trained(
    network: MLPRegressor, X: np.ndarray, targets: np.ndarray, most: int, random: np.random.RandomState
) -> int:
    """Train at one rate after the other, from the best weights so far; the epochs that it took."""
    order = random.permutation(len(X))
    n_held = int(np.ceil(_VALIDATION * len(X))) if len(X) >= _FEWEST_TO_VALIDATE else 0
    held, learnt = (order[:n_held], order[n_held:]) if n_held else (order, order)
    network.set_params(batch_size=min(_BATCH, len(learnt)))
    least, best, epochs = np.inf, None, row_blocks(most, "epochs", size=1)
    count = 0
    for rate in _RATES:
        network.set_params(learning_rate_init=rate)
        if best is not None:
            _set_weights(network, best)
        idle = 0
        while idle < _PATIENCE and next(epochs, None) is not None:
            count += 1
            _train(network, X[learnt], targets[learnt])
            error = float(((network.predict(X[held]).reshape(len(held), -1) - targets[held]) ** 2).mean())
            idle += 1
            if error < least:
                least, best, idle = error, [w.copy() for w in _weights(network)], 0
    if best is not None:
        _set_weights(network, best)
    return count


def _weights(network: MLPRegressor) -> list[np.ndarray]:
    return [*network.coefs_, *network.intercepts_]


def _set_weights(network: MLPRegressor, weights: list[np.ndarray]) -> None:
    for own, given in zip(_weights(network), weights, strict=True):
        own[...] = given


def _train(network: MLPRegressor, X: np.ndarray, targets: np.ndarray) -> None:
    """One epoch; Ctrl-C ends it."""
    with warnings.catch_warnings(), one_blas_thread():  # products of 32 rows gain nothing from more
        warnings.simplefilter("ignore", ConvergenceWarning)  # an epoch is not all of the training
        # scikit-learn turns Ctrl-C into a warning and goes on with a network half trained
        warnings.filterwarnings("error", _INTERRUPTED, UserWarning)
        try:
            network.fit(X, _as_targets(targets))
        except UserWarning as warning:
            if _INTERRUPTED in str(warning):
                raise KeyboardInterrupt from None
            raise


def _as_targets(scaled: np.ndarray) -> np.ndarray:
    """scikit-learn takes a single coordinate as a list."""
    return scaled.ravel() if scaled.shape[1] == 1 else scaled
