"""Kernel PCA against scikit-learn's, PCA and classical MDS; kernels pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA as KernelPCAOfScikitLearn

import laws
from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import PCA, ClassicalMDS, IsentropicWarning, KernelPCA, Landmarks, datasets, load, save
from isentropic._core.errors import InvalidInputError, NegativeEigenvalueWarning
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
    K, new = (ours._map.product.between(X, IRIS, 1) for X in (IRIS, NEW))
    given = KernelPCA(kernel="precomputed").fit(K)
    assert_allclose(given.embedding_, ours.embedding_, atol=1e-9 * laws.width(ours.embedding_))
    assert_allclose(given.transform(new), ours.transform(NEW), atol=1e-9 * laws.width(ours.embedding_))
    for fitted, fit_rows, rows in ((given, K, new), (ours, IRIS, NEW)):
        laws.assert_fitted_rows_stay(fitted, fit_rows)
        laws.assert_rows_by_themselves(fitted.transform, rows)
        save(fitted, tmp_path / "model.isentropic")
        assert_same_bits(load(tmp_path / "model.isentropic").transform(rows), fitted.transform(rows))


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
    assert KernelPCA().fit(IRIS)._map.product.gamma == pytest.approx(1 / (2 * mean))


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


# ---- through landmarks ---------------------------------------------------------------------------


@KINDS
def test_landmarks_make_the_map_of_the_kernel_of_nystroem(options):
    fitted = KernelPCA(3, n_landmarks=30, **options).fit(IRIS)
    K = fitted._map.product.between(np.vstack([IRIS, NEW]), IRIS[fitted.landmarks_], 1)
    W = fitted._map.product.between(IRIS[fitted.landmarks_], IRIS[fitted.landmarks_], 1)
    approximate = K @ np.linalg.pinv(W, rcond=1e-10, hermitian=True) @ K[:150].T
    centring = np.eye(150) - 1 / 150
    values, vectors = np.linalg.eigh(centring @ approximate[:150] @ centring)
    values, vectors = values[:-4:-1], vectors[:, :-4:-1]
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-7)
    expected = (approximate - approximate[:150].mean(axis=0)) @ centring @ vectors / np.sqrt(values)
    found = np.vstack([fitted.embedding_, fitted.transform(NEW)])
    assert_same_up_to_sign(found, expected, rtol=0, atol=1e-6 * laws.width(expected))


@KINDS
def test_where_landmarks_are_all_there_is_the_map_is_exact(options):
    X = np.unique(IRIS, axis=0)
    twice = np.vstack([X, X])
    full, through = KernelPCA(**options).fit(twice), KernelPCA(n_landmarks=len(X), **options).fit(twice)
    assert sorted(through.landmarks_ % len(X)) == list(range(len(X)))
    assert_allclose(through.embedding_, full.embedding_, atol=1e-6 * laws.width(full.embedding_))
    assert_allclose(through.transform(NEW), full.transform(NEW), atol=1e-5 * laws.width(full.embedding_))
    all_rows = KernelPCA(n_landmarks=len(IRIS), **options).fit(IRIS)
    assert all_rows.landmarks_ is None
    assert_same_bits(all_rows.embedding_, KernelPCA(**options).fit(IRIS).embedding_)


@pytest.mark.parametrize("rule", ["maxmin", "random"])
def test_more_landmarks_come_nearer_to_the_map_of_all_rows(rule):
    full = KernelPCA().fit(IRIS).embedding_
    gaps = []
    for count in (10, 40, 100):
        Z = KernelPCA(n_landmarks=Landmarks(count, rule)).fit(IRIS).embedding_
        Z = Z * np.sign((Z * full).sum(axis=0))
        gaps.append(np.linalg.norm(Z - full) / np.linalg.norm(full))
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]
    assert gaps[2] < 1e-3


def test_landmarks_that_lack_a_coordinate_say_so():
    line = np.column_stack([np.arange(30.0), np.zeros(30)])
    with pytest.warns(IsentropicWarning, match="rank of 1 around its mean: the last 1 of 2 coordinates are"):
        fitted = KernelPCA(kernel="linear", n_landmarks=6).fit(line)
    assert not fitted.embedding_[:, 1].any()
    with pytest.raises(InvalidInputError, match="n_landmarks must be None where kernels are given"):
        KernelPCA(kernel="precomputed", n_landmarks=6).fit(np.eye(30))


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (
            KernelPCA(kernel="cosine"),
            IRIS,
            "kernel must be one of linear, poly, rbf, precomputed, got 'cosine'",
        ),
        (KernelPCA(n_landmarks=3), IRIS, r"n_landmarks must be an integer of at least n_components \+ 2 = 4"),
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
