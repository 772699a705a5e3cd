"""Sparse tables: principal components of the rank asked for, never made dense, and alike for new rows."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import isentropic
from isentropic._core.errors import InvalidInputError, IsentropicError, TableWarning
from isentropic.datasets import Preparation, load

pytestmark = pytest.mark.filterwarnings("ignore:a sparse table of")


def words(n: int = 60, m: int = 40) -> sparse.csr_array:
    return sparse.random_array((n, m), density=0.2, format="csr", rng=np.random.default_rng(1))


def test_the_components_are_those_of_pca():
    from sklearn.decomposition import PCA

    X = words()
    pca = PCA(5).fit(X.toarray())
    kept = pca.explained_variance_ratio_.sum()
    with pytest.warns(
        TableWarning, match=f"60 x 40 is reduced to 5 principal comp.* keep {kept:.0%} of its var"
    ):
        table = load(X, rank=5)
    expected = pca.transform(X.toarray())
    assert_allclose(np.abs(table.X), np.abs(expected), atol=1e-9)
    assert table.feature_names == tuple(f"component{j}" for j in range(5))
    assert table.scaling == "none"


def test_all_components_keep_all_distances():
    from scipy.spatial.distance import pdist

    X = words(30, 100)
    assert_allclose(pdist(load(X).X), pdist(X.toarray()), rtol=1e-9)


def test_equal_rows_and_empty_columns_leave_fewer_components():
    X = sparse.vstack([words(4, 30)] * 5).tocsr()
    table = load(X, rank=10)
    assert table.X.shape == (20, 3)  # four rows lie in three dimensions around their mean
    assert_array_equal(load(X, rank=10).X, table.X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_form_is_the_same_table(form):
    assert_allclose(load(words().asformat(form), rank=4).X, load(words(), rank=4).X, atol=1e-10)
    assert_array_equal(load(sparse.csr_matrix(words()), rank=4).X, load(words(), rank=4).X)


def test_new_rows_go_the_same_way(tmp_path):
    X = words()
    table = load(X, rank=6)
    prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    assert_array_equal(load(X[:7], preparation=prepared).X, table.X[:7])
    assert_array_equal(load(X[[3]], preparation=prepared).X, table.X[[3]])
    sparse.save_npz(tmp_path / "new.npz", X[:5])
    assert_array_equal(load(tmp_path / "new.npz", preparation=prepared).X, table.X[:5])
    with pytest.raises(InvalidInputError, match="must have the 40 columns of the fitted one, got 39"):
        load(X[:, 1:], preparation=prepared)
    with pytest.raises(InvalidInputError, match="source must be dense, as the fitted table"):
        load(X, preparation=load(pd.DataFrame(X.toarray()), scaling="standard").preparation)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_file_of_scipy(tmp_path, form, compressed):
    sparse.save_npz(tmp_path / "words.npz", words().asformat(form), compressed=compressed)
    table = load(tmp_path / "words.npz", rank=4)
    assert table.name == "words"
    assert_allclose(table.X, load(words(), rank=4).X, atol=1e-10)
    assert_array_equal(load(str(tmp_path / "words.npz"), rank=4).X, table.X)


def test_another_form_in_a_file_names_the_next_step(tmp_path):
    sparse.save_npz(tmp_path / "words.npz", words().tocoo())
    with pytest.raises(
        InvalidInputError, match=r"got 'coo'. Write it as scipy.sparse.save_npz\(path, X.tocsr"
    ):
        load(tmp_path / "words.npz")


def test_a_damaged_file_is_refused_or_a_table(tmp_path):
    path = tmp_path / "words.npz"
    sparse.save_npz(path, words(12, 9), compressed=False)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(80):
        damaged = np.frombuffer(whole, np.uint8).copy()
        damaged[rng.integers(len(damaged), size=2)] = rng.integers(256, size=2)
        path.write_bytes(damaged.tobytes()[: rng.integers(len(whole) // 2, len(whole) + 1)])
        with contextlib.suppress(IsentropicError):  # any other exception is a bug
            assert np.isfinite(load(path, rank=3).X).all()
    inside = {"data": np.ones(3), "indices": np.array([0, 99, 1]), "indptr": np.array([0, 2, 3])}
    np.savez(path, format=np.array(b"csr"), shape=np.array([2, 4]), **inside)
    with pytest.raises(IsentropicError, match=r"must be a sparse matrix of scipy.sparse.save_npz"):
        load(path)


@pytest.mark.parametrize(
    ("matrix", "options", "text"),
    [
        (words(), {"rank": 40}, "rank must be an integer from 1 to 39, got 40"),
        (words(), {"rank": 0}, "rank must be"),
        (words(), {"target": "y"}, "target must be None for a sparse table"),
        (words() * np.nan, {}, "must be finite, got 480 values that are not"),
        (words().astype(complex), {}, "rows of numbers"),
        (sparse.csr_array((1, 5)), {}, "at least 2 rows and 2 columns"),
        (sparse.csr_array((0, 5)), {}, "a row and a column"),
        (sparse.csr_array((5, 5)), {}, "rows that differ"),
        (pd.DataFrame({"a": [1, 2]}), {"rank": 3}, "rank must be None for a table that is not sparse"),
    ],
)
def test_what_cannot_be_reduced_is_refused(matrix, options, text):
    with pytest.raises(InvalidInputError, match=text):
        load(matrix, **options)


def test_a_wide_table_is_never_made_dense():
    """30,000 x 30,000 numbers would take 7 GB."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 30_000, (2, 60_000))
    X = sparse.coo_array((np.ones(60_000), (rows, columns)), shape=(30_000, 30_000))
    with isentropic.config_context(memory_limit=10**8):
        assert load(X, rank=3).X.shape == (30_000, 3)


@pytest.mark.parametrize("method", ["pca", "isomap", "t-sne", "umap"])
def test_estimators_name_the_next_step(method):
    with pytest.raises(
        InvalidInputError, match=r"got a sparse matrix of shape \(60, 40\). Reduce it first: isen"
    ):
        isentropic.registry.make(method).fit(words())


# ---- rows that stay sparse, by cosine ------------------------------------------------------------


def test_by_cosine_a_sparse_table_stays_so(tmp_path):
    X = words()
    sparse.save_npz(tmp_path / "words.npz", X)
    for source in (X, X.tocsc(), tmp_path / "words.npz"):
        table = load(source, metric="cosine")
        assert_array_equal(table.X.tocsr().toarray(), X.toarray())
    assert (table.metric, table.name, table.scaling) == ("cosine", "words", "none")
    assert table.feature_names[:2] == ("x0", "x1")
    assert table.row_names[-1] == "59"
    isomap = isentropic.Isomap(metric=table.metric).fit(table.X)
    again = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    new = load(X[:7], preparation=again)
    assert_array_equal(isomap.transform(new.X), isomap.embedding_[:7])


def test_empty_rows_are_named():
    X = words().toarray()
    X[[2, 7]] = 0
    with pytest.warns(TableWarning, match="has 2 empty rows, at distance 1 from all others that are not"):
        load(sparse.csr_array(X), metric="cosine")


def test_components_for_cosines_are_those_of_directions():
    X = words().toarray() * np.geomspace(1e-3, 1e3, 60)[:, None]
    lengths = np.sqrt((X**2).sum(axis=1))
    with pytest.warns(TableWarning, match=r"to 39 .*keep 100% of the squared lengths of its rows"):
        table = load(sparse.csr_array(X), metric="cosine", rank=39)
    units = table.X / np.sqrt((table.X**2).sum(axis=1))[:, None]
    cosines = X @ X.T / np.multiply.outer(lengths, lengths)
    _, spread, _ = np.linalg.svd(X / lengths[:, None])
    assert_allclose(units @ units.T, cosines, atol=3 * spread[-1])  # all but the last direction is kept
    assert table.metric == "cosine"
    new = load(sparse.csr_array(X[:5]), preparation=table.preparation)
    assert_allclose(new.X, table.X[:5])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda fitted: load(words(m=30), preparation=fitted), "the 40 columns of the fitted one, got 30"),
        (lambda fitted: load(pd.DataFrame({"x0": [1]}), preparation=fitted), "source must be sparse, as the"),
        (lambda fitted: load(words(), preparation=fitted, rank=3), "rank must be left to the preparation"),
        (lambda fitted: load(words(), "x0", metric="cosine"), "target must be None for a sparse table"),
        (lambda fitted: load(words(), drop=["x0"], metric="cosine"), "drop must be None for a sparse table"),
    ],
    ids=["columns", "dense", "rank", "target", "drop"],
)
def test_what_does_not_belong_together_is_refused(make, text):
    with pytest.raises(InvalidInputError, match=text):
        make(load(words(), metric="cosine").preparation)
