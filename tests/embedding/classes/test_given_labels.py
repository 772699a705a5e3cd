"""What every method does with a ``y`` that it is given: learn from it, or say that it does not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import cases
import laws
from assertions import assert_same_bits
from isentropic import LDA, NCA, UMAP, InvalidInputError, IsentropicWarning, SupervisedUMAP
from isentropic.registry import METHODS

IRIS, SPECIES = load_iris(return_X_y=True)
PARTLY = [name for name, line in METHODS.items() if line.needs_y and line.family != "linear"]
quiet = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")


@quiet
@pytest.mark.parametrize("name", METHODS)
def test_a_y_of_another_length_is_refused_by_every_method(name):
    if cases.lacking(name):
        pytest.skip(cases.lacking(name))
    for y in (SPECIES[:-1], list(SPECIES) * 2):
        with pytest.raises(InvalidInputError, match=r"^y must be one .* 150 rows"):
            cases.made(name).fit(IRIS, y)
        with pytest.raises(InvalidInputError, match=r"^y must be one .* 150 rows"):
            cases.made(name).fit_transform(pd.DataFrame(IRIS), y)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_does_not_use_y_says_so(name):
    line = METHODS[name]
    learns = line.needs_y or line.load() is UMAP or line.family == "wrapper"
    assert ("``y`` is not used." in line.load().fit.__doc__) == (not learns)


@quiet
def test_what_is_no_column_of_labels_is_refused_where_it_is_not_used():
    with pytest.raises(InvalidInputError, match="y must be one entry for each of the 150 rows of X, got 5"):
        cases.made("pca").fit(IRIS, 5)
    with pytest.raises(InvalidInputError, match="y must be one entry for each of the 100 rows of X, got 150"):
        cases.made("isomap").fit(IRIS[:100]).partial_fit(IRIS[:100], SPECIES)


@quiet
@pytest.mark.parametrize("name", PARTLY)
def test_minus_one_none_and_nan_are_unlabelled(name):
    names = laws.classes_of(laws.X[:60])
    codes, fits = np.unique(names, return_inverse=True)[1], []
    for y, mark in ((codes, -1), (codes.astype(float), -1.0), (codes.astype(float), np.nan), (names, None)):
        y = y.astype(object) if mark is None else y.copy()
        y[::4] = mark
        fits.append(cases.made(name).fit(laws.X[:60], y))
    for other in fits[1:]:
        assert_same_bits(other.embedding_, fits[0].embedding_)
        assert_same_bits(other.transform(laws.NEW), fits[0].transform(laws.NEW))
    assert len(fits[0].classes_) == 3


@quiet
@pytest.mark.parametrize(
    "model", [SupervisedUMAP(n_epochs=100), UMAP(n_epochs=100)], ids=["supervised", "umap"]
)
def test_rows_marked_by_minus_one_lie_among_their_class(model):
    hidden = np.arange(150) % 2 > 0
    Z = model.fit_transform(IRIS, np.where(hidden, -1, SPECIES))
    among = KNeighborsClassifier(5).fit(Z[~hidden], SPECIES[~hidden])
    assert among.score(Z[hidden], SPECIES[hidden]) > 0.9
    apart = KNeighborsClassifier(5).fit(Z, hidden)  # as they do where -1 is learnt as a class
    assert apart.score(Z, hidden) < 0.8


@pytest.mark.parametrize("method", [LDA(1), NCA(1)], ids=["lda", "nca"])
def test_a_method_that_cannot_leave_rows_out_says_so(method):
    y = np.where(np.arange(150) % 3, SPECIES, -1)
    said = f"y has -1 in 50 of 150 rows: {type(method).__name__} takes it as a class.*Leave these rows out"
    with pytest.warns(IsentropicWarning, match=said):
        assert method.fit(IRIS, y).classes_.tolist() == [-1, 0, 1, 2]
    with pytest.raises(InvalidInputError, match=r"got '50 without one'\. Leave these rows out, or take"):
        method.fit(IRIS, np.where(np.arange(150) % 3, SPECIES, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert method.fit(IRIS, np.where(SPECIES, 1, -1)).classes_.tolist() == [
            -1,
            1,
        ]  # no doubt: two classes


def test_large_unsigned_labels_keep_their_names():
    y = np.where(SPECIES > 0, np.uint64(2**64 - 1), np.uint64(7))
    assert LDA(1).fit(IRIS, y).classes_.tolist() == ["7", "18446744073709551615"]
