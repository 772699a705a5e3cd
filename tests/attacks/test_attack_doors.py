"""Seeded attacks on the Python interface of the methods: odd tables, odd parameters, odd orders of calls.

Each ends with the map of the plain table, with a map where the odd value is a sound one, or with an error of
ours or of scikit-learn's checks. An error from inside numpy, scipy or numba, a map with missing values or
an estimator that a failed call left changed is a failure. ``ISENTROPIC_ATTACKS`` multiplies their number.
"""

import copy
import inspect
import os
import pickle
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cases import SMALL
from isentropic import METHODS, IsentropicError, make
from public_calls import ArrayLike

TIMES = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
_rng = np.random.default_rng(0)
X = _rng.integers(0, 9, size=(26, 4)) + np.arange(26)[:, None] / 4  # exact in single precision
Y = np.arange(26) % 2
# Those whose single fit takes longer than a few hundredths of a second are attacked only in the larger run.
SLOW = (
    "autoencoder",
    "mvu",
    "parametric",
    "umap",
    "gtm",
    "rankvisu",
    "sculpting",
    "stochastic",
    "kde",
    "nca",
)
NAMES = [name for name in METHODS if TIMES > 1 or not any(word in name for word in SLOW)]


def memory_mapped(value):
    path = os.path.join(os.environ["PYTEST_TMP"], "rows.npy")
    np.save(path, value)
    return np.load(path, mmap_mode="r")


def with_value(value):
    spoiled = X.copy()
    spoiled[3, 1] = value
    return spoiled


SAME = {  # the same numbers: the same map
    "list": X.tolist,
    "tuple": lambda: tuple(map(tuple, X)),
    "object": lambda: X.astype(object),
    "float32": lambda: X.astype(np.float32),
    "longdouble": lambda: X.astype(np.longdouble),
    "big-endian": lambda: X.astype(">f8"),
    "Fortran": lambda: np.asfortranarray(X),
    "reversed twice": lambda: X[::-1].copy()[::-1],
    "matrix view": lambda: np.ma.array(X),
    "no mask": lambda: np.ma.array(X, mask=False),
    "array-like": lambda: ArrayLike(X),
    "frame": lambda: pd.DataFrame(X, columns=list("abcd")),
    "nullable": lambda: pd.DataFrame(X, columns=list("abcd")).convert_dtypes(),
    "MultiIndex": lambda: pd.DataFrame(X, index=pd.MultiIndex.from_product([range(13), ["a", "b"]])),
    "duplicate index": lambda: pd.DataFrame(X, index=[0] * 26),
    "polars": lambda: polars.DataFrame(X),
    "memmap": lambda: memory_mapped(X),
    "fractions": lambda: [list(map(Fraction, row)) for row in X.tolist()],
}
NONE = {  # no table of numbers: an error
    "mask": lambda: np.ma.array(X, mask=X > 8),
    "one masked row": lambda: [np.ma.array(X[0], mask=True), *X[1:]],
    "text": lambda: np.full(X.shape, "abc"),
    "complex": lambda: X + 1j,
    "nothing": lambda: None,
    "scalar": lambda: 3.0,
    "one axis": lambda: X[:, 0],
    "three axes": lambda: X[None],
    "no rows": lambda: X[:0],
    "no columns": lambda: X[:, :0],
    "one row": lambda: X[:1],
    "NaN": lambda: with_value(np.nan),
    "inf": lambda: with_value(np.inf),
    "huge": lambda: with_value(1e200),
    "generator": lambda: (row for row in X),
    "words": lambda: "abc",
    "bytes": lambda: b"abc",
    "set": lambda: {1.0, 2.0},
    "object()": object,
    "structured": lambda: np.zeros(26, [("a", float), ("b", float)]),
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "coo": lambda: scipy.sparse.coo_array(X),
    "dok": lambda: scipy.sparse.dok_array(X),
    "csr with NaN": lambda: scipy.sparse.csr_array(with_value(np.nan)),
    "dates": lambda: X.astype("datetime64[D]"),
    "spans": lambda: X.astype("timedelta64[s]"),
    "date column": lambda: pd.DataFrame({"a": X[:, 0].astype("datetime64[s]"), "b": X[:, 0]}),
    "text columns": lambda: pd.DataFrame({"a": ["x"] * 26, "b": X[:, 0]}),
    "categories": lambda: pd.DataFrame({"a": pd.Categorical(["x", "y"] * 13), "b": X[:, 0]}),
    "nullable with NA": lambda: pd.DataFrame(X).convert_dtypes().mask(X > 8),
}
VALUES = [  # of parameters
    True,
    False,
    None,
    0,
    -1,
    1,
    2.5,
    -0.5,
    10**30,
    -(10**30),
    np.nan,
    np.inf,
    -np.inf,
    "3",
    "",
    "abc",
    b"3",
    1j,
    np.int8(2),
    np.uint64(3),
    np.float32(0.5),
    np.array(3),
    np.array([3]),
    [3],
    (),
    {},
    object(),
    print,
    np.bool_(True),
    Fraction(1, 2),
    pd.NA,
    range(3),
    X,
    np.ma.masked,
    1e-300,
    1e300,
    {"a": 1},
    type,
    Exception("x"),
    np.datetime64("2020-01-01"),
]


@pytest.fixture(autouse=True)
def _quiet(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def made(name):
    return make(name, **SMALL.get(name, {}))


def fit(estimator, table, y=Y):
    return estimator.fit_transform(table, y)


def told(error):
    """Whether an error is ours, or of scikit-learn's checks, which its last line of Python is then of."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace(os.sep, "/")
    validation = "/sklearn/utils/" in last or "/sklearn/base" in last or last.endswith("_set_output.py")
    return isinstance(error, IsentropicError) or (isinstance(error, ValueError | TypeError) and validation)


def attempted(call):
    """The result, or None where an error tells what is wrong; any other error goes on."""
    try:
        return call()
    except Exception as error:
        if not told(error):
            raise
        return None


def drawn(things, count, seed):
    """Some of the things, others for every seed."""
    order = np.random.default_rng(seed).permutation(len(things))[: count * TIMES]
    return [things[place] for place in order]


@pytest.mark.parametrize("name", NAMES)
def test_odd_tables(name):
    base = fit(made(name), X)
    for how in drawn(list(SAME), 1, len(name)):
        found = np.asarray(fit(made(name), SAME[how]()))
        assert np.array_equal(found, base), f"{how}: another map"
    for how in drawn(list(NONE), 4, sum(map(ord, name))):
        estimator = made(name)
        before = set(vars(estimator))
        found = attempted(lambda given=NONE[how], model=estimator: fit(model, given()))
        takes_holes = name in ("probabilistic-pca", "nonlinear-pca") and how in (
            "mask",
            "NaN",
            "one masked row",
        )
        assert found is None or takes_holes or (how == "huge" and np.isfinite(found).all()), f"{how}: a map"
        assert found is not None or set(vars(estimator)) == before, f"{how}: half a fit"


@pytest.mark.parametrize("name", NAMES)
def test_odd_new_rows(name):
    model = made(name).fit(X, Y)
    if not hasattr(model, "transform"):
        return
    new = X[:3] + 0.25
    base, state = np.asarray(model.transform(new)), pickle.dumps(model.embedding_)
    for how in drawn(list(NONE), 4, len(name)):
        if how == "one row":
            continue
        found = attempted(lambda given=NONE[how]: model.transform(given()))
        assert found is None or np.isfinite(np.asarray(found)).all(), how
        assert found is None or how not in ("mask", "one masked row") or "pca" in name, f"{how}: placed"
    assert attempted(lambda: model.transform(new[:, :2])) is None
    assert np.array_equal(np.asarray(model.transform(np.ma.array(new))), base)
    assert pickle.dumps(model.embedding_) == state


@pytest.mark.parametrize("name", NAMES)
def test_odd_parameters(name):
    known = [p for p in inspect.signature(METHODS[name].load()).parameters if p != "self"]
    pairs = [(parameter, place) for parameter in known for place in range(len(VALUES))]
    for parameter, place in drawn(pairs, 4, sum(map(ord, name))):
        value = VALUES[place]
        if parameter in ("metric", "divergence") and callable(value):
            continue  # what a function of the user's raises is the user's
        if (
            parameter in ("max_iter", "max_epochs", "n_epochs", "n_init")
            and isinstance(value, int)
            and value > 99
        ):
            continue  # it would run for ever, as it was told to
        estimator = made(name).set_params(**{parameter: copy.copy(value)})
        found = attempted(lambda model=estimator: fit(model, X))
        assert found is None or np.isfinite(np.asarray(found)).all(), f"{parameter}={value!r}"
        repr(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_odd_orders_of_calls(name):
    estimator = made(name)
    if hasattr(estimator, "transform"):
        with pytest.raises((NotFittedError, IsentropicError)):
            estimator.transform(X)
    with pytest.raises((ValueError, IsentropicError)):
        estimator.set_params(no_such_parameter=1)
    base = np.asarray(fit(estimator, X))
    assert np.array_equal(fit(clone(estimator), X), base)
    for again in (copy.deepcopy(estimator), pickle.loads(pickle.dumps(estimator))):
        assert np.array_equal(again.embedding_, estimator.embedding_)
        assert np.array_equal(fit(again, X), base)
    assert attempted(lambda: fit(estimator, NONE["mask"]())) is None or "pca" in name
    assert estimator.n_features_in_ == X.shape[1]
    narrow = fit(estimator, X[:, :3])  # other columns: another fit
    assert estimator.n_features_in_ == 3
    assert np.array_equal(narrow, fit(made(name), X[:, :3]))


@pytest.mark.parametrize("name", drawn(NAMES, 6, 5))
def test_fits_in_threads_do_not_meet(name):
    base = np.asarray(fit(made(name), X))
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: np.asarray(fit(made(name), X)), range(4)):
            assert np.array_equal(found, base)


@pytest.mark.parametrize(
    "how", ["mask", "no mask", "Series", "list", "NaN", "text", "two columns", "complex"]
)
def test_odd_classes(how):
    masked = np.ma.array(Y, mask=np.arange(26) % 9 == 0)
    given = {
        "mask": masked,
        "no mask": np.ma.array(Y),
        "Series": pd.Series(Y, index=[0] * 26),
        "list": Y.tolist(),
        "NaN": masked.astype(float).filled(np.nan),
        "text": Y.astype(str),
        "two columns": np.c_[Y, Y],
        "complex": Y + 1j,
    }[how]
    for name in ("lda", "es-isomap", "supervised-le"):
        found = attempted(lambda name=name: fit(made(name), X, given))
        if how in ("no mask", "Series", "list", "text"):
            assert np.array_equal(found, fit(made(name), X))
        if how in ("two columns", "complex") or (how in ("mask", "NaN") and name == "lda"):
            assert found is None
