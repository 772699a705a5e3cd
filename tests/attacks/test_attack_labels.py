"""Labels of every kind: the same classes give the same map, unlabelled rows are told, the rest is refused."""

import datetime
import decimal
import os
import warnings

import numpy as np
import pandas as pd
import polars
import pytest

from assertions import assert_same_bits
from isentropic import LDA, UMAP, IsentropicError, IsentropicWarning, SupervisedIsomap, SupervisedUMAP

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
N = 48
UNLABELLED = np.arange(N) % 4 == 0
CODES = np.arange(N) // 5 % 3
WORDS = np.array(["a b ", "b", "c"])[CODES]
NAMES = WORDS.astype(object)
DATES = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]")[CODES]
PARTLY = {
    "umap": UMAP(5, n_epochs=5),
    "supervised-umap": SupervisedUMAP(5, n_epochs=5),
    "es-isomap": SupervisedIsomap(5),
}


def objects(values):
    return np.fromiter(values, object, N)


def marked(y, mark, kind=object):
    """``y`` with a mark in place of the labels of every fourth row."""
    y = np.array(y, kind)
    y[UNLABELLED] = mark
    return y


SAME = {
    "int8": CODES.astype(np.int8),
    "unsigned": CODES.astype(np.uint64) + np.uint64(2**63),
    "beyond 2^53": 2**60 + CODES,
    "big-endian": CODES.astype(">i4"),
    "floats": CODES.astype(np.float32),
    "signed zeros": np.where(CODES == 0, np.where(np.arange(N) % 2, -0.0, 0.0), CODES),
    "words": WORDS,
    "objects": NAMES,
    "bytes": WORDS.astype("S"),
    "bytes that are no text": np.array([b"a\xff", b"b", b"c"])[CODES],
    "StringDType": WORDS.astype(np.dtypes.StringDType()),
    "list": CODES.tolist(),
    "a column": CODES[:, None],
    "a frame of one column": pd.DataFrame({"y": CODES}),
    "Series with another index": pd.Series(CODES, index=np.arange(N)[::-1]),
    "categories that do not occur": pd.Categorical(WORDS, categories=["b", "zz", "a b ", "c"]),
    "Int64": pd.array(CODES, dtype="Int64"),
    "polars": polars.Series(WORDS),
    "dates": DATES,
    "Python dates": DATES.astype(object),
    "time zone": pd.Series(pd.to_datetime(DATES, utc=True)),
    "intervals": pd.cut(CODES, [-1, 0, 1, 2]),
    "decimals": objects(decimal.Decimal(int(code)) for code in CODES),
    "numbers and text": objects(int(c) if i % 2 else str(c) for i, c in enumerate(CODES)),
    "integers of thirty digits": objects(10**30 + int(code) for code in CODES),
    "masked, nothing hidden": np.ma.array(CODES),
}
SAME_UNLABELLED = {
    "-1": marked(CODES, -1, int),
    "-1 of int8": marked(CODES, -1, np.int8),
    "-1.0": marked(CODES, -1, float),
    "-1 among words": marked(NAMES, -1),
    "-1 as a decimal": marked(NAMES, decimal.Decimal(-1)),
    "a category -1": pd.Categorical(marked(CODES, -1, int)),
    "Int64 with -1": pd.Series(marked(CODES, -1, int), dtype="Int64"),
    "NaN": marked(CODES, np.nan, float),
    "-1 and NaN": np.where(np.arange(N) % 8 == 0, np.nan, marked(CODES, -1, float)),
    "None": marked(NAMES, None),
    "NaN among words": marked(NAMES, np.nan),
    "pd.NA": pd.array(marked(NAMES, pd.NA), dtype="string"),
    "Int64 with NA": pd.array(marked(CODES, pd.NA), dtype="Int64"),
    "NaT": marked(DATES, np.datetime64("NaT"), "M8[ns]"),
    "empty text": marked(NAMES, ""),
    "polars null": polars.Series([None if gap else int(c) for gap, c in zip(UNLABELLED, CODES, strict=True)]),
    "masked": np.ma.array(CODES, mask=UNLABELLED),
    "masked words": np.ma.array(WORDS, mask=UNLABELLED),
}
REFUSED = {
    "numbers": np.linspace(0, 1, N),
    "halves": CODES + 0.5,
    "infinite": marked(CODES, np.inf, float),
    "too short": CODES[:-1],
    "too long": np.append(CODES, 0),
    "two columns": np.stack([CODES, CODES], axis=1),
    "one-hot": np.eye(3)[CODES],
    "a number": 3,
    "a word": "abc",
    "a dictionary": {0: 1},
    "nothing": [],
    "ragged": [[1]] * (N - 1) + [[1, 2]],
    "complex": CODES.astype(complex),
    "records": np.array([(int(code),) for code in CODES], [("y", int)]),
    "all NaN": np.full(N, np.nan),
    "all None": np.full(N, None),
    "all hidden": np.ma.masked_all(N, int),
    "one label": np.where(np.arange(N) == 3, 1.0, np.nan),
}
SIGNS = {
    "-1 and 1": np.where(CODES, 1, -1),
    "-1.0 and 1.0": np.where(CODES, 1.0, -1.0),
    "-1 and 0": np.where(CODES, 0, -1),
}


def rows(attack):
    return np.random.default_rng(attack).normal(size=(N, 3)) + 3 * np.eye(3)[CODES]


def fit(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a graph in parts, a column that is made flat
        return estimator.__class__(**estimator.get_params()).fit(X, y)


@pytest.mark.parametrize("kind", SAME)
def test_the_same_classes_give_the_same_map(kind):
    for attack in range(ATTACKS):
        X = rows(attack)
        for estimator in (*PARTLY.values(), LDA()):
            found = fit(estimator, X, SAME[kind])
            assert_same_bits(found.embedding_, fit(estimator, X, CODES).embedding_)
            assert len(found.classes_) == 3


@pytest.mark.parametrize("kind", SAME_UNLABELLED)
@pytest.mark.parametrize("name", PARTLY)
def test_the_same_unlabelled_rows_give_the_same_map(name, kind):
    for attack in range(ATTACKS):
        X = rows(attack)
        found = fit(PARTLY[name], X, SAME_UNLABELLED[kind])
        assert_same_bits(found.embedding_, fit(PARTLY[name], X, marked(NAMES, None)).embedding_)
        assert len(found.classes_) == 3


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("estimator", [*PARTLY.values(), LDA()], ids=lambda one: type(one).__name__)
def test_what_is_no_class_is_refused_by_name(estimator, kind):
    with pytest.raises(IsentropicError, match="y must be "):
        fit(estimator, rows(0), REFUSED[kind])


@pytest.mark.parametrize("kind", SIGNS)
def test_signs_are_two_classes_or_are_refused_with_the_next_step(kind):
    assert len(fit(LDA(1), rows(0), SIGNS[kind]).classes_) == 2
    for estimator in PARTLY.values():
        with pytest.raises(IsentropicError, match=r"beside -1, which marks unlabelled.*y\.astype\(str\)"):
            fit(estimator, rows(0), SIGNS[kind])
        assert len(fit(estimator, rows(0), SIGNS[kind].astype(str)).classes_) == 2


@pytest.mark.parametrize("estimator", [*PARTLY.values(), LDA()], ids=lambda one: type(one).__name__)
def test_labels_of_the_user_are_not_written_into(estimator):
    for y in (SAME["objects"], SAME_UNLABELLED["None"], SAME_UNLABELLED["-1 among words"]):
        before = y.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                estimator.fit(rows(0), y)
            except IsentropicError:
                assert estimator.__class__ is LDA  # which needs all classes
        np.testing.assert_array_equal(y, before)


def test_a_time_is_a_class_as_dates_are():
    y = objects(datetime.time(int(code)) for code in CODES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        assert LDA().fit(rows(0), y).classes_.tolist() == ["00:00:00", "01:00:00", "02:00:00"]
