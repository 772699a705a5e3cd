"""Maps of sparse rows by cosine: those of the dense table, to the bit where its values are whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from isentropic import (
    METHODS,
    UMAP,
    Geodesic,
    InvalidInputError,
    Isomap,
    append_rows,
    compare,
    load,
    make,
    save,
)
from isentropic.embedding.input_rows import takes_sparse

RNG = np.random.default_rng(0)
TOPICS = RNG.dirichlet(np.full(40, 0.1), 3)
WORDS = np.array([RNG.multinomial(30, TOPICS[i % 3]) for i in range(60)]).astype(float)
WORDS[5] = WORDS[9]
NEW = WORDS[:4] + WORDS[4:8]
FEW = {"n_neighbors": 8}
OPTIONS = {
    "umap": {**FEW, "n_epochs": 20},
    "t-sne": {"perplexity": 6, "max_iter": 60},
    "isomap": FEW,
    "classical-mds": {},
    "sdd": {"degree": 1},
}
pytestmark = pytest.mark.filterwarnings("ignore::isentropic.IsentropicWarning")


@pytest.mark.parametrize("name", OPTIONS)
def test_the_map_is_that_of_the_dense_table(name, tmp_path):
    dense, thin = (
        make(name, metric="cosine", **OPTIONS[name]).fit(X) for X in (WORDS, sparse.csr_array(WORDS))
    )
    assert_array_equal(thin.embedding_, dense.embedding_)
    assert_array_equal(thin.transform(sparse.csr_array(WORDS[:7])), thin.embedding_[:7])  # known again
    places = dense.transform(NEW)
    assert_array_equal(thin.transform(sparse.csr_array(NEW)), places)
    save(thin, tmp_path / "model.isentropic")
    assert_array_equal(load(tmp_path / "model.isentropic").transform(sparse.csr_array(NEW)), places)


def test_geodesics_by_cosine_take_sparse_rows_too():
    dense, thin = (
        make("metric-mds", metric=Geodesic(8, "cosine")).fit(X) for X in (WORDS, sparse.csr_array(WORDS))
    )
    assert_array_equal(thin.embedding_, dense.embedding_)


def test_all_methods_that_know_metrics_take_them_but_those_that_learn_from_classes():
    takers = {name for name, method in METHODS.items() if not method.extra and takes_sparse_method(method)}
    assert takers >= {*OPTIONS, "metric-mds", "sammon", "pacmap", "trimap", "landmark-isomap", "sne"}
    assert not takers & {"pca", "lle", "laplacian-eigenmaps", "supervised-umap", "es-isomap", "lda"}


def takes_sparse_method(method):
    estimator = method.load()()
    return hasattr(estimator, "_learns_from_y") and takes_sparse(estimator)


def test_the_metric_decides_and_new_rows_come_as_the_fitted_ones():
    X = sparse.csr_array(WORDS)
    with pytest.raises(InvalidInputError, match=r"dense for UMAP.*rank=50\).X, or give metric='cosine'"):
        UMAP().fit(X)
    with pytest.raises(InvalidInputError, match=r"dense for PCA.*rank=50\).X, or X.toarray"):
        make("pca").fit(X)
    with pytest.raises(InvalidInputError, match="sparse, as the fitted rows, got 'a dense array'"):
        Isomap(metric="cosine").fit(X).transform(NEW)
    with pytest.raises(InvalidInputError, match="dense, as the fitted rows, got 'a sparse matrix'"):
        Isomap(metric="cosine").fit(WORDS).transform(X)
    with pytest.raises(ValueError, match="41 features"):
        Isomap(metric="cosine").fit(X).transform(sparse.csr_array((2, 41)))
    assert UMAP(metric="cosine").__sklearn_tags__().input_tags.sparse
    assert not UMAP().__sklearn_tags__().input_tags.sparse


def test_what_needs_columns_names_the_next_step():
    X = sparse.csr_array(WORDS)
    with pytest.raises(InvalidInputError, match=r"dense to be compared.*rank=50 when it is loaded"):
        compare(X, metric="cosine")
    fitted = Isomap(metric="cosine").fit(X)
    for append in (fitted.partial_fit, lambda rows: append_rows(fitted, rows)):
        with pytest.raises(InvalidInputError, match="dense, for others to be appended, got 'sparse ones'"):
            append(X[:2])
