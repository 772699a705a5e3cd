"""Methods of other libraries in a comparison: what returns a map is compared, what does not is recorded.

The stand-ins have the habits of umap-learn, openTSNE and others, which the tests do not need.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from isentropic import InvalidInputError, compare
from isentropic.selection import select

X = np.random.default_rng(0).normal(size=(40, 4)) * [4.0, 3.0, 1.0, 0.5]
Y = np.arange(40) % 2


class LikeUMAP(BaseEstimator):
    """Compares n_jobs with a number, so that None fails; takes keywords; keeps its map."""

    def __init__(self, n_neighbors=15, n_jobs=-1, random_state=None):
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_transform(self, X, y=None, ensure_all_finite=True, **options):
        if self.n_jobs < -1 or self.n_jobs == 0:
            raise ValueError("n_jobs must be a postive integer, or -1 (for all cores)")
        self.embedding_ = (X[:, :2] / np.sqrt(self.n_neighbors)).astype(np.float32)
        return self.embedding_

    def transform(self, X):
        return X[:, :2] / np.sqrt(self.n_neighbors)


class Embedding(np.ndarray):
    """A map that is an array with more to it."""


class LikeOpenTSNE(BaseEstimator):
    """``fit`` returns the map; there is no ``fit_transform``."""

    def __init__(self, perplexity=30, n_jobs=1, random_state=None):
        self.perplexity = perplexity
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X):
        return X[:, :2].view(Embedding)


class Bare:
    """No parameters at all, and no ``y``; fitted once."""

    def fit_transform(self, X):
        assert not hasattr(self, "fitted")
        self.fitted = True
        return X[:, :2]


class Kept(Bare):
    """``fit`` returns itself; the map is an attribute."""

    fit_transform = None

    def fit(self, X):
        self.embedding_ = X[:, :2]
        return self


class NotClonable(BaseEstimator):
    """The constructor changes what it is given; parameters without a seed or threads."""

    def __init__(self, size=2):
        self.size = [size]

    def fit_transform(self, X, y=None):
        return X[:, :2]


class NotCopied:
    """Holds what cannot be copied."""

    def fit_transform(self, X):
        return X[:, :2]

    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle '_thread.lock' object")


class Returns:
    """Returns whatever it was told to make of X."""

    def __init__(self, make):
        self.make = make

    def fit_transform(self, X):
        return self.make(X)


class Tensor:
    """As tensors of other libraries: an array on request."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def spoiled(X):
    """Writes into what it was given."""
    Z = X[:, :2].copy()
    X[:] = 0
    return Z


MAPS = {
    "like umap": LikeUMAP(n_jobs=1),
    "like opentsne": LikeOpenTSNE(),
    "bare": Bare(),
    "kept": Kept(),
    "not clonable": NotClonable(),
    "not copied": NotCopied(),
    "frame": Returns(lambda X: pd.DataFrame(X[:, :2], index=np.arange(len(X)) * 7)),
    "list": Returns(lambda X: X[:, :2].tolist()),
    "tensor": Returns(lambda X: Tensor(X[:, :2])),
    "single precision": Returns(lambda X: X[:, :2].astype(np.float32)),
    "no mask": Returns(lambda X: np.ma.array(X[:, :2])),
    "writes": Returns(spoiled),
    "function that writes": spoiled,
}
FAILURES = {
    "missing": (lambda X: np.full((len(X), 2), np.nan), "must be finite"),
    "fewer rows": (lambda X: X[:-1, :2], "must have 40 rows of coordinates"),
    "one axis": (lambda X: X[:, 0], "must have 40 rows of coordinates"),
    "no column": (lambda X: X[:, :0], "must have 40 rows of coordinates"),
    "nothing": (lambda X: None, "must have 40 rows of coordinates"),
    "complex": (lambda X: X[:, :2] + 1j, "must be an array of real numbers, got 'complex128 values'"),
    "text": (lambda X: X[:, :2].astype(str), "must be an array of real numbers"),
    "masked": (lambda X: np.ma.masked_less(X[:, :2], 0), "must be finite, got 40 coordinates"),
    "two results": (lambda X: (X[:, :2], X[0]), "must be an array of real numbers"),
    "raises": (lambda X: 1 / 0, "ZeroDivisionError: division by zero"),
    "itself": (lambda X: Bare(), "must be an array of real numbers"),
}


@pytest.mark.parametrize("tune", [False, True])
def test_whatever_returns_a_map_is_compared(tune):
    runs = compare(X, Y, MAPS, preset="quick", tune=tune, budget=2)
    assert {run.method: run.reason for run in runs} == dict.fromkeys(MAPS, "")
    for run in runs:
        scale = 1.0 if run.method != "like umap" else 1 / np.sqrt(run.params.get("n_neighbors", 15))
        np.testing.assert_allclose(run.embedding, X[:, :2] * scale, rtol=1e-6)
    found = {run.method: run for run in runs}
    assert found["bare"].quality.measures == found["writes"].quality.measures


def test_a_failing_method_is_recorded_and_the_others_are_compared():
    made = {name: Returns(make) for name, (make, _) in FAILURES.items()}
    runs = compare(X, methods={**made, "pca": {}}, preset="quick", tune=False)
    for run in runs[:-1]:
        assert FAILURES[run.method][1] in run.reason
        assert run.failed
    assert not runs[-1].failed


def test_what_a_method_was_given_is_not_changed():
    before = X.copy()
    model = Bare()
    compare(X, methods={"writes": spoiled, "bare": model}, preset="quick", tune=False)
    assert_array_equal(X, before)
    assert not hasattr(model, "fitted")


def test_threads_are_set_where_a_number_is_given():
    runs = compare(X, methods={"umap": LikeUMAP(n_jobs=-1)}, preset="quick", tune=False, n_jobs=1)
    assert runs[0].reason == ""


@pytest.mark.parametrize(
    "given", [LikeUMAP, 3, None, "pca", object()], ids=["class", "number", "None", "name", "object"]
)
def test_what_can_return_no_map_is_refused_before_anything_is_fitted(given):
    with pytest.raises(InvalidInputError, match=r"fit_transform\(X\) or fit\(X\), or a function of X, got"):
        compare(X, methods={"mine": given})


def test_parameters_are_chosen_for_what_has_no_fit_transform():
    found = select(LikeOpenTSNE(), X, {"perplexity": [5, 10]})
    assert [trial.reason for trial in found.trials] == ["", ""]
