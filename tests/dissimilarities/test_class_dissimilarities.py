"""Class-aware distances, class Gaussians and the classes of new rows against plain twins."""

from math import exp, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from assertions import assert_same_bits
from isentropic import config_context, load, save
from isentropic._core.errors import InvalidInputError, IsentropicWarning
from isentropic.dissimilarities import (
    ClassGaussians,
    WideGaussians,
    class_aware_distances,
    class_gaussians,
    expected_between,
    mean_between,
    mean_square,
    posterior,
    votes,
)
from isentropic.dissimilarities import classes as classes_module
from isentropic.embedding.class_model import DIRECTED, class_divergences
from isentropic.registry import make

IRIS, SPECIES = load_iris(return_X_y=True)


def naive_dissimilarity(d, same, width, discount):
    """As the formula is printed."""
    a = exp(d**2 / width)
    return sqrt((a - 1) / a) if same else sqrt(a) - discount


@pytest.mark.parametrize("discount", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("width", [0.1, 3.0])
def test_distances_are_those_of_the_formula(rng, width, discount):
    d = rng.uniform(0.05, 3, size=(8, 5))  # the printed formula loses the digits of smaller ones
    same = rng.integers(0, 2, size=d.shape)
    found = class_aware_distances(d, same, width=width, discount=discount)
    expected = [
        naive_dissimilarity(*pair, width, discount) for pair in zip(d.ravel(), same.ravel(), strict=True)
    ]
    assert_allclose(found.ravel(), expected, rtol=1e-11)


def test_without_discount_below_1_is_the_own_class():
    d = np.linspace(0, 5, 50)
    within, between = (class_aware_distances(d, share, width=1.0, discount=0.0) for share in (1, 0))
    assert within.max() <= 1 <= between.min()
    for grown in (within[:30], between):  # farther on, what is within is 1 to the last bit
        assert (np.diff(grown) > 0).all()
    assert within[0] == 0


def test_a_share_gives_the_expectation():
    d = np.array([0.3, 1.0, 2.0])
    within, between, mixed = (class_aware_distances(d, share, width=2.0) for share in (1, 0, 0.25))
    assert_allclose(mixed, 0.25 * within + 0.75 * between, rtol=1e-14)


def test_tiny_distances_keep_their_digits():
    found = class_aware_distances(np.array([1e-9]), 1, width=1.0)
    assert_allclose(found, 1e-9, rtol=1e-12)


def test_distances_that_overflow_end_at_a_number_and_are_told():
    with pytest.warns(IsentropicWarning, match="1 of 3 distances are too long"):
        found = class_aware_distances(np.array([1.0, 50.0, 50.0]), np.array([0, 0, 1]), width=1.0)
    assert np.isfinite(found).all()
    assert found[2] == 1


def test_units_do_not_matter_with_the_mean_square_as_width():
    d = pdist(IRIS[:40])
    assert_allclose(mean_square(d), (d**2).mean(), rtol=1e-12)
    assert mean_square(np.zeros(4)) == 1
    plain = class_aware_distances(d, 0, width=mean_square(d))
    assert_allclose(class_aware_distances(1e80 * d, 0, width=mean_square(1e80 * d)), plain, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"width": 0}, "width must be a positive number"),
        ({"width": 1, "discount": 1.5}, r"discount must be a number in \[0, 1\], got 1.5"),
        ({"width": 1, "share": 2}, "share must be probabilities"),
    ],
)
def test_bad_numbers_are_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        class_aware_distances(np.ones(3), **{"share": 1, **given})


# ---- a Gaussian for each class -----------------------------------------------------------------------


def test_gaussians_are_shrunk_by_the_size_of_their_class():
    X, classes = np.vstack([IRIS[:50], IRIS[50:54], IRIS[100:101]]), np.repeat([0, 1, 2], [50, 4, 1])
    found = class_gaussians(X, classes)
    S = [np.cov(X[classes == c], rowvar=False) for c in (0, 1)]
    pooled = (49 * S[0] + 3 * S[1]) / 52
    noise = 1e-6 * np.trace(pooled) / 4 * np.eye(4)
    assert_allclose(found.covariances[0], 0.9 * S[0] + 0.1 * pooled + noise, rtol=1e-12, atol=1e-15)
    assert_allclose(found.covariances[1], 0.5 * S[1] + 0.5 * pooled + noise, rtol=1e-12, atol=1e-15)
    assert_allclose(found.covariances[2], pooled + noise, rtol=1e-12, atol=1e-15)
    assert_array_equal(found.counts, [50, 4, 1])
    assert_allclose(found.means[1], IRIS[50:54].mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize(
    "X",
    [IRIS[:6], np.repeat(IRIS[:3], 2, axis=0), np.ones((6, 4)), np.outer(np.arange(6.0), np.ones(4))],
    ids=["few rows", "no class varies", "equal rows", "rank one"],
)
@pytest.mark.parametrize("classes", [[0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [0] * 6], ids=str)
def test_odd_classes_have_positive_definite_covariances(X, classes):
    found = class_gaussians(X, np.array(classes))
    assert all(np.linalg.eigvalsh(S)[0] > 0 for S in found.covariances)
    shares = posterior(X, found)
    assert np.isfinite(shares).all()
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


def test_classes_that_leave_out_a_number_are_refused():
    with pytest.raises(InvalidInputError, match="classes must be numbers from 0"):
        class_gaussians(IRIS[:3], np.array([0, 2, 2]))


# ---- tables with more columns than rows ---------------------------------------------------------------


def wide_table(kind, n=40, m=300):
    """Rows of three classes, fewer than columns."""
    rng = np.random.default_rng(0)
    classes = np.arange(n) % 3
    X = rng.normal(size=(n, m)) * rng.uniform(0.1, 3.0, m) + classes[:, None] * rng.normal(size=m)
    if kind == "one row in a class":
        classes = np.where(np.arange(n) == 0, 2, np.arange(n) % 2)
    elif kind == "no class varies":
        X = rng.normal(size=(3, m))[classes]
    elif kind == "rank two":
        X = X[:, :2] @ rng.normal(size=(2, m))
    elif kind == "far from 0":
        X += 1e4
    return X, classes


WIDE = ["ordinary", "one row in a class", "no class varies", "rank two", "far from 0"]


def gaussians_both_ways(kind, monkeypatch):
    """In coordinates of the span, and with whole covariances; the table, and rows within its span."""
    X, classes = wide_table(kind)
    inside = class_gaussians(X, classes)
    monkeypatch.setattr(classes_module, "_WIDE", 10_000)
    whole = class_gaussians(X, classes)
    assert isinstance(inside, WideGaussians)
    assert isinstance(whole, ClassGaussians)
    return inside, whole, (X[:20] + X[20:]) / 2


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("divergence", DIRECTED)
def test_divergences_of_wide_tables_are_those_of_whole_covariances(kind, divergence, monkeypatch):
    inside, whole, _ = gaussians_both_ways(kind, monkeypatch)
    expected = class_divergences(whole, divergence)
    assert_allclose(class_divergences(inside, divergence), expected, rtol=1e-8, atol=2e-8)
    assert expected.max() > 0.05


@pytest.mark.parametrize("kind", WIDE)
def test_posteriors_of_wide_tables_are_those_of_whole_covariances(kind, monkeypatch):
    monkeypatch.setattr(classes_module, "_NOISE", 1e-2)  # else rounding decides between far classes
    inside, whole, new = gaussians_both_ways(kind, monkeypatch)
    assert_allclose(posterior(new, inside), posterior(new, whole), rtol=1e-8, atol=1e-12)
    assert_allclose(inside.means, whole.means, rtol=1e-12, atol=1e-12)
    assert_allclose(inside.variances, np.diagonal(whole.covariances, axis1=1, axis2=2), rtol=1e-10)


def test_no_batch_changes_a_bit_of_a_wide_posterior():
    X, classes = wide_table("ordinary")
    found = class_gaussians(X, classes)
    together = posterior(X, found)
    for i in (0, 7, 39):
        assert_same_bits(posterior(X[i : i + 1], found)[0], together[i])


@pytest.mark.parametrize("shape", [(300, 256), (301, 300), (300, 300)], ids=str)
def test_few_columns_and_long_tables_keep_whole_covariances(shape):
    X = np.random.default_rng(0).normal(size=shape)
    assert isinstance(class_gaussians(X, np.arange(len(X)) % 2), ClassGaussians)


def test_equal_rows_of_a_wide_table_have_finite_posteriors():
    shares = posterior(np.ones((6, 300)), class_gaussians(np.ones((6, 300)), np.array([0, 0, 0, 0, 1, 1])))
    assert_allclose(shares, np.tile([4 / 6, 2 / 6], (6, 1)), rtol=1e-12)


@pytest.mark.parametrize("name", ["class-isomap", "stochastic-le", "stochastic-slle"])
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
def test_thousands_of_columns_need_no_square_of_them(name, tmp_path):
    # Whole covariances of three classes would be 600 MB.
    X, classes = wide_table("ordinary", n=60, m=5000)
    with config_context(memory_limit=2**26):
        model = make(name).fit(X, classes)
        new = model.transform(X[:5] + 0.01)
    save(model, tmp_path / "model")
    assert_same_bits(load(tmp_path / "model").transform(X[:5] + 0.01), new)


# ---- the class of a new row --------------------------------------------------------------------------


def test_the_posterior_is_that_of_the_densities(rng):
    gaussians = class_gaussians(IRIS, SPECIES)
    new = IRIS[::7] + 0.1 * rng.normal(size=(22, 4))
    densities = np.column_stack(
        [
            n * multivariate_normal(mean, S).pdf(new)
            for n, mean, S in zip(gaussians.counts, gaussians.means, gaussians.covariances, strict=True)
        ]
    )
    expected = densities / densities.sum(axis=1, keepdims=True)
    assert_allclose(posterior(new, gaussians), expected, rtol=1e-8, atol=1e-12)
    far = posterior(new + 1e6, gaussians)  # where every density is 0 as a double
    assert_allclose(far.sum(axis=1), 1, rtol=1e-12)


def test_votes_are_those_of_nearest_neighbours():
    peer = KNeighborsClassifier(7).fit(IRIS, SPECIES)
    near = SPECIES[peer.kneighbors(IRIS[::5], return_distance=False)]
    assert_allclose(votes(near, 3), peer.predict_proba(IRIS[::5]), rtol=1e-14)


def test_terms_between_classes_are_expected_and_averaged_as_over_pairs(rng):
    between = rng.uniform(size=(3, 3))
    between = between + between.T
    np.fill_diagonal(between, 0)
    classes = np.array([0, 0, 1, 2, 2, 2])
    shares = rng.dirichlet(np.ones(3), size=4)
    expected = [[sum(p[c] * between[c, y] for c in range(3)) for y in classes] for p in shares]
    assert_allclose(expected_between(shares, between, classes), expected, rtol=1e-12)
    pairs = [between[a, b] for i, a in enumerate(classes) for b in classes[i + 1 :] if a != b]
    assert_allclose(mean_between(between, np.bincount(classes)), np.mean(pairs), rtol=1e-12)
    assert mean_between(np.zeros((1, 1)), np.array([5])) == 0
