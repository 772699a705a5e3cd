"""Kernel PCA against scikit-learn's, PCA and classical MDS; kernels pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA as KernelPCAOfScikitLearn

import laws
from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import PCA, ClassicalMDS, IsentropicWarning, KernelPCA, datasets, load, save
from isentropic._errors import InvalidInputError, NegativeEigenvalueWarning
from isentropic.affinities import InnerProduct

IRIS = datasets.load("builtin:iris").X
NEW = IRIS[:20] + np.random.default_rng(0).normal(size=(20, 4))
OPTIONS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 2.0},
    {"kernel": "linear"},
]
KINDS = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options["kernel"])


@KINDS
def test_fitted_and_new_rows_are_where_scikit_learn_has_them(options):
    theirs = KernelPCAOfScikitLearn(3, eigen_solver="dense", **options).fit(IRIS)
    ours = KernelPCA(3, **options).fit(IRIS)
    expected = theirs.transform(np.vstack([IRIS, NEW]))
    found = np.vstack([ours.embedding_, ours.transform(NEW)])
    assert_same_up_to_sign(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


@KINDS
def test_given_kernels_make_the_same_map(options, tmp_path):
    ours = KernelPCA(**options).fit(IRIS)
    K, new = (ours._product.between(X, IRIS, 1) for X in (IRIS, NEW))
    given = KernelPCA(kernel="precomputed").fit(K)
    assert_allclose(given.embedding_, ours.embedding_, atol=1e-9 * laws.width(ours.embedding_))
    assert_allclose(given.transform(new), ours.transform(NEW), atol=1e-9 * laws.width(ours.embedding_))
    for fitted, fit_rows, rows in ((given, K, new), (ours, IRIS, NEW)):
        laws.assert_fitted_rows_stay(fitted, fit_rows)
        laws.assert_rows_by_themselves(fitted.transform, rows)
        save(fitted, tmp_path / "model.skops")
        assert_same_bits(load(tmp_path / "model.skops").transform(rows), fitted.transform(rows))


def test_each_kernel_is_its_formula(rng):
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    for kind, formula in {
        "rbf": lambda x, y: np.exp(-0.7 * ((x - y) ** 2).sum()),
        "poly": lambda x, y: (0.7 * x @ y + 1.5) ** 4,
        "linear": lambda x, y: (x - X.mean(axis=0)) @ (y - X.mean(axis=0)),
    }.items():
        found = InnerProduct.of(X, kind, 0.7, 4, 1.5).between(X, Y, 1)
        assert_allclose(found, [[formula(x, y) for y in Y] for x in X], rtol=1e-12)


def test_the_width_is_half_the_inverse_of_the_mean_squared_distance():
    D = cdist(IRIS, IRIS)
    mean = (D**2).sum() / (len(D) * (len(D) - 1))
    assert KernelPCA().fit(IRIS)._product.gamma == pytest.approx(1 / (2 * mean))


def test_the_linear_kernel_is_pca_at_any_offset():
    for offset in (0.0, 1e6):
        kernel, pca = KernelPCA(kernel="linear").fit(IRIS + offset), PCA().fit(IRIS + offset)
        assert_same_up_to_sign(kernel.embedding_, pca.embedding_, atol=1e-7)
        assert_same_up_to_sign(kernel.transform(NEW + offset), pca.transform(NEW + offset), atol=1e-7)


def test_squared_distances_are_classical_mds():
    D = cdist(IRIS, IRIS, "cityblock")
    kernel, mds = KernelPCA(kernel="precomputed").fit(-0.5 * D**2), ClassicalMDS(metric="cityblock").fit(IRIS)
    assert_same_up_to_sign(kernel.embedding_, mds.embedding_, atol=1e-6)


def test_what_no_inner_product_has_is_zero_and_said_to_be(rng):
    K = np.diag([3.0, 2.0, -4.0, -5.0])
    with pytest.warns(
        NegativeEigenvalueWarning, match=r"Eigenvalues -\S+ are negative: the kernel is no inner"
    ):
        fitted = KernelPCA(3, kernel="precomputed").fit(K)
    assert not fitted.embedding_[:, 2].any()
    assert np.isfinite(fitted.transform(rng.normal(size=(3, 4)))).all()
    line = np.arange(9.0)[:, None]
    with pytest.warns(IsentropicWarning, match="rank of 1 around its mean: the last 1 of 2 coordinates are"):
        assert not KernelPCA(kernel="linear").fit(line).embedding_[:, 1].any()


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (
            KernelPCA(kernel="cosine"),
            IRIS,
            "kernel must be one of linear, poly, rbf, precomputed, got 'cosine'",
        ),
        (KernelPCA(gamma=0), IRIS, "gamma must be 'auto' or a positive number, got 0"),
        (KernelPCA(degree=0), IRIS, "degree must be a positive integer, got 0"),
        (KernelPCA(kernel="poly", degree=9), 1e60 * IRIS, "kernel 'poly' must be finite between all rows"),
        (KernelPCA(kernel="precomputed"), IRIS, "must be a square matrix of kernels, got"),
        (KernelPCA(kernel="precomputed"), np.arange(9.0).reshape(3, 3), "X must be symmetric, got"),
    ],
)
def test_what_is_refused(estimator, X, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(X)
