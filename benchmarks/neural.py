"""Autoencoders beside PCA and scikit-learn's network, and a table larger than what it may take of memory.

    python -m benchmarks.neural [CASE ...]

The digits are those of the folder ISENTROPIC_DATA. Errors are mean squares over all features, as shares of
those of PCA with two components; `new` are 10,000 rows that were not fitted.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from .runner import Case, run_cases

_ROWS, _NEW = 20_000, 10_000
_LARGE, _COLUMNS = 5_000_000, 50


def digits():
    """Fitted and new digits, as bytes."""
    from isentropic.datasets import load

    X = load(str(Path(os.environ["ISENTROPIC_DATA"]) / "MNIST" / "train-images-idx3-ubyte.gz")).X
    drawn = np.random.RandomState(0).permutation(len(X))
    return {"X": X[drawn[:_ROWS]].astype(np.uint8), "new": X[drawn[_ROWS : _ROWS + _NEW]].astype(np.uint8)}


def errors(give, data):
    """Of what ``give`` makes of rows, fitted and new, as shares of PCA's."""
    from isentropic import PCA

    X, new = (data[name].astype(float) for name in ("X", "new"))
    pca = PCA().fit(X)
    linear = ((X - pca.inverse_transform(pca.embedding_)) ** 2).mean()
    fitted, others = (((rows - give(rows)) ** 2).mean() for rows in (X, new))
    return {"error / PCA": fitted / linear, "error of new rows / of fitted": others / fitted}


def of_estimator(name, **params):
    def run(data):
        from isentropic import make

        model = make(name, **params).fit(data["X"].astype(float))
        found = errors(lambda rows: model.inverse_transform(model.transform(rows)), data)
        bound = {"ELBO, nats": model.elbo_} if hasattr(model, "elbo_") else {}
        return {**found, "epochs": model.n_epochs_, **bound}

    return run


def scikit_learn(data):
    """Its network of the same layers, which has no weights to choose for the middle: rows in, rows out."""
    import warnings

    from sklearn.neural_network import MLPRegressor

    X = data["X"].astype(np.float32)
    centre, spread = X.mean(axis=0), X.std()
    net = MLPRegressor(
        (256, 64, 2, 64, 256), batch_size=min(128, len(X)), early_stopping=True, n_iter_no_change=5,
        max_iter=200, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.fit((X - centre) / spread, (X - centre) / spread)
    found = errors(lambda rows: net.predict((rows - centre) / spread) * spread + centre, data)
    return {**found, "epochs": net.n_iter_}


def large_table():
    """Only its size: the table itself is written by each contender, to a file of its own."""
    return {"n": np.full(_LARGE, 1, np.int8)}


def from_disk(data):
    """An epoch over a table of 32-bit floats in a file."""
    from isentropic import Autoencoder

    with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR", tempfile.gettempdir())) as file:
        shape = (len(data["n"]), _COLUMNS)
        table = np.memmap(file.name, np.float32, "w+", shape=shape)
        rng = np.random.default_rng(0)
        basis = rng.normal(size=(2, _COLUMNS)).astype(np.float32)
        for first in range(0, len(table), 100_000):
            part = table[first : first + 100_000]
            part[:] = np.tanh(rng.standard_normal((len(part), 2), np.float32) @ basis)
            part += 0.1 * rng.standard_normal(part.shape, np.float32)
        table.flush()
        del table, part
        rows = np.memmap(file.name, np.float32, "r", shape=shape)
        model = Autoencoder(layers=(64,), max_epochs=1).fit(rows)
        return {"anonymous memory, MiB": anonymous(), "table, MiB": rows.nbytes / 2**20,
                "error, held out": model.held_out_error_}  # fmt: skip


def anonymous():
    """What is resident and not a part of a file, which the system gives up at will."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1]) / 1024


CASES = {
    case.name: case
    for case in (
        Case("20,000 digits, two coordinates", digits,
             {"scikit-learn": scikit_learn, "autoencoder": of_estimator("autoencoder"),
              "variational": of_estimator("variational-autoencoder")}, repeats=1),
        Case("20,000 digits, Boltzmann machines", digits,
             {"rbm-autoencoder": of_estimator("rbm-autoencoder", pretrain_epochs=10, max_epochs=30)},
             repeats=1, only_by_name=True),
        Case("5,000,000 x 50 on a disk", large_table, {"autoencoder": from_disk}, warm_up=20_000, repeats=1),
    )
}  # fmt: skip

if __name__ == "__main__":
    run_cases("benchmarks.neural", CASES)
