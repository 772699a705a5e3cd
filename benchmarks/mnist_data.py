"""The 70,000 handwritten digits, for benchmarks of neighbours and their maps."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np


def warm_up_of(n):
    """How many rows warm a case of ``n`` rows up: enough for the searches that large tables take.

    pynndescent compiles from 4,096 rows on; ours descends, and loads what it has compiled, from 10,000 on.
    """
    return 4_500 if n <= 10_000 else 12_000


def digits(n):
    """``n`` of the digits, drawn, in 50 principal components of all; and what they are."""
    from isentropic import PCA

    X, y = _all_of_them()
    drawn = np.random.RandomState(0).permutation(len(y))[:n]
    return np.ascontiguousarray(PCA(50).fit_transform(X)[drawn]), y[drawn]


def pixels(n):
    """The same digits, as 784 pixels each."""
    X, y = _all_of_them()
    drawn = np.random.RandomState(0).permutation(len(y))[:n]
    return X[drawn], y[drawn]


def _all_of_them():
    from isentropic.datasets import load

    folder = Path(os.environ["ISENTROPIC_DATA"]) / "MNIST"
    X = np.concatenate([load(str(folder / f"{part}-images-idx3-ubyte.gz")).X for part in ("train", "t10k")])
    return X, np.concatenate([_labels(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")])


def _labels(path):
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)[8:].astype(np.int64)
