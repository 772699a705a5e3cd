"""Classical scaling without the centred matrix, against the one that forms it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

import naive
from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic._core.errors import NegativeEigenvalueWarning
from isentropic.linalg import classical_scaling, euclidean_defect, residual_variance
from isentropic.linalg import scaling as scaling_module

seeds = st.integers(0, 2**32 - 1)
# Up to 200 rows the whole spectrum is found, then only its top.
sizes = pytest.mark.parametrize("n", [12, 200, 230])


def scattered(rng, n, m=4):
    """Rows whose variances differ, so that eigenvectors are well defined."""
    return rng.normal(size=(n, m)) * 3.0 ** -np.arange(m)


def geodesic_like(n):
    """Distances along a circle: not Euclidean, with a spectrum of both signs."""
    angle = np.random.default_rng(n).uniform(0, 2 * np.pi, size=n)
    gap = np.abs(angle[:, None] - angle)
    return np.minimum(gap, 2 * np.pi - gap)


# ---- oracle ------------------------------------------------------------------------------------


@sizes
def test_euclidean_distances_give_the_rows_back(rng, n):
    X = scattered(rng, n)
    scaling = classical_scaling(pdist(X), n, 3, n_jobs=1)
    values, Z = naive.naive_classical_scaling(squareform(pdist(X)), 3)
    assert_allclose(scaling.eigenvalues, values, rtol=1e-9)
    assert_same_up_to_sign(scaling.embedding, Z, atol=1e-8)
    full = classical_scaling(pdist(X), n, 4, n_jobs=1)
    assert_allclose(pdist(full.embedding), pdist(X), rtol=1e-7)


@sizes
def test_other_distances_match_the_formed_matrix(n):
    D = geodesic_like(n)
    scaling = classical_scaling(naive.condensed(D), n, 2, n_jobs=1)
    values, Z = naive.naive_classical_scaling(D, 2)
    assert_allclose(scaling.eigenvalues, values, rtol=1e-9)
    assert_same_up_to_sign(scaling.embedding, Z, atol=1e-7)
    assert_allclose(scaling.means, (D**2).mean(axis=1), rtol=1e-12)


@sizes
def test_signs_follow_the_rule(rng, n):
    scaling = classical_scaling(pdist(scattered(rng, n)), n, 3, n_jobs=1)
    assert_allclose(scaling.embedding, naive.naive_fixed_signs(scaling.embedding), atol=0)


def test_coordinates_are_centred_and_uncorrelated(rng):
    Z = classical_scaling(pdist(scattered(rng, 40)), 40, 3, n_jobs=1).embedding
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    gram = Z.T @ Z
    assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)


# ---- negative eigenvalues ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 250])
def test_negative_eigenvalues_warn_and_their_coordinates_are_zero(n):
    # Rows on a line, all distances a little too short: eigenvalues x'x - 1/4, 0, and -1/4 for the rest.
    x = np.arange(n) - (n - 1) / 2
    D = np.sqrt((x[:, None] - x) ** 2 - 0.5 * (1 - np.eye(n)))
    said = (
        r"-0\.25 are negative: .* in 3 dimensions, and those coordinates are zero\. Take fewer components\.$"
    )
    with pytest.warns(NegativeEigenvalueWarning, match=said) as seen:
        scaling = classical_scaling(naive.condensed(D), n, 3, n_jobs=1)
    assert len(seen) == 1
    assert_allclose(scaling.eigenvalues, [x @ x - 0.25, 0, -0.25], rtol=1e-9, atol=1e-9)
    for columns in (scaling.embedding, scaling.projection, scaling.place(D[:3])):
        assert np.isfinite(columns).all()
        assert not columns[:, 2].any()
    assert_same_up_to_sign(scaling.embedding[:, :1], x[:, None] * np.sqrt(1 - 0.25 / (x @ x)), atol=1e-8)


def test_an_eigenvalue_of_zero_is_not_negative(rng):
    X = scattered(rng, 10, m=2)
    scaling = classical_scaling(pdist(X), 10, 10, n_jobs=1)  # a warning would be an error
    assert (scaling.eigenvalues < 0).any()  # by rounding only
    assert_allclose(scaling.eigenvalues[2:], 0, atol=1e-12)
    assert_allclose(scaling.embedding[:, 2:], 0, atol=1e-5)
    assert_allclose(scaling.place(squareform(pdist(X))), scaling.embedding, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_more_components_than_rows_are_zero(n):
    X = np.arange(float(n))[:, None]
    scaling = classical_scaling(pdist(X) if n > 1 else np.empty(0), n, 5, n_jobs=1)
    assert scaling.embedding.shape == (n, 5)
    assert scaling.eigenvalues.shape == (5,)
    assert_allclose(np.abs(scaling.embedding[:, 0]), np.abs(X[:, 0] - X.mean()), atol=1e-12)
    assert_allclose(scaling.embedding[:, 1:], 0, atol=1e-7)


@pytest.mark.parametrize("n", [5, 200, 300, 600])
def test_rows_that_are_all_equal_lie_in_one_point(n):
    scaling = classical_scaling(np.zeros(n * (n - 1) // 2), n, 2, n_jobs=1)
    assert not scaling.eigenvalues.any()
    assert not scaling.embedding.any()
    assert not scaling.place(np.zeros((3, n))).any()
    assert scaling.euclidean_defect == (0.0, 0.0)


# ---- placing rows ------------------------------------------------------------------------------


@sizes
@pytest.mark.parametrize("made", ["euclidean", "circle"])
def test_fitted_rows_are_placed_where_they_are(rng, n, made):
    D = squareform(pdist(scattered(rng, n))) if made == "euclidean" else geodesic_like(n)
    scaling = classical_scaling(naive.condensed(D), n, 2, n_jobs=1)
    width = np.ptp(scaling.embedding, axis=0).max()
    assert_allclose(scaling.place(D), scaling.embedding, atol=1e-10 * width)


def test_new_rows_match_the_kernel_formula(rng):
    D = geodesic_like(40)
    known, new = D[:30, :30], D[30:, :30]
    scaling = classical_scaling(naive.condensed(known), 30, 2, n_jobs=1)
    assert_same_up_to_sign(scaling.place(new), naive.naive_placement(known, new, 2), atol=1e-9)


def test_new_rows_of_a_plane_keep_their_distances(rng):
    X = scattered(rng, 50, m=2)
    D = squareform(pdist(X))
    scaling = classical_scaling(pdist(X[:35]), 35, 2, n_jobs=1)
    Z = np.vstack([scaling.embedding, scaling.place(D[35:, :35])])
    assert_allclose(squareform(pdist(Z)), D, atol=1e-9)


def test_a_row_is_placed_by_itself(rng):
    D = geodesic_like(60)
    scaling = classical_scaling(naive.condensed(D[:40, :40]), 40, 2, n_jobs=1)
    new, order = D[40:, :40], rng.permutation(20)
    together = scaling.place(new, n_jobs=1)
    assert_same_bits(scaling.place(new, n_jobs=2), together)
    assert_same_bits(scaling.place(new[order]), together[order])
    assert_same_bits(scaling.place(np.asfortranarray(new)), together)
    for i in range(20):
        assert_same_bits(scaling.place(new[i : i + 1])[0], together[i])


# ---- laws --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(seed=seeds, scale=st.floats(1e-6, 1e6))
def test_scaled_distances_give_a_scaled_map(seed, scale):
    d = pdist(scattered(np.random.default_rng(seed), 15))
    one, two = classical_scaling(d, 15, 2, n_jobs=1), classical_scaling(scale * d, 15, 2, n_jobs=1)
    assert_allclose(two.embedding, scale * one.embedding, rtol=1e-6, atol=1e-9 * scale)
    assert_allclose(two.eigenvalues, scale**2 * one.eigenvalues, rtol=1e-9)


@settings(max_examples=25)
@given(seed=seeds)
def test_row_order_is_only_row_order(seed):
    rng = np.random.default_rng(seed)
    X, order = scattered(rng, 15), rng.permutation(15)
    one, two = (
        classical_scaling(pdist(X), 15, 2, n_jobs=1),
        classical_scaling(pdist(X[order]), 15, 2, n_jobs=1),
    )
    assert_same_up_to_sign(two.embedding, one.embedding[order], atol=1e-7)


def test_duplicates_share_a_place(rng):
    X = np.vstack([scattered(rng, 30), np.tile(scattered(rng, 1), (250, 1))])
    Z = classical_scaling(pdist(X), 280, 2, n_jobs=1).embedding
    assert_allclose(Z[30:], Z[30:31] * np.ones((250, 1)), atol=1e-8)


# ---- determinism -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [150, 600])
def test_threads_change_no_bit(n):
    d = naive.condensed(geodesic_like(n)) if n < 200 else squareform(geodesic_like(n), checks=False)
    one, two = (classical_scaling(d, n, 2, n_jobs=n_jobs) for n_jobs in (1, 2))
    for name in ("eigenvalues", "embedding", "projection", "means"):
        assert_same_bits(getattr(one, name), getattr(two, name))
    assert one.euclidean_defect == two.euclidean_defect
    Z = one.embedding
    assert residual_variance(d, Z, n_jobs=1) == residual_variance(d, Z, n_jobs=2)


@pytest.mark.parametrize("made", ["circle", "one row apart", "two rows, many times"])
def test_another_run_gives_the_same_bits(made):
    n = 300
    d = {
        "circle": lambda: squareform(geodesic_like(n), checks=False),
        "one row apart": lambda: pdist(np.eye(n)[:, :1]),
        "two rows, many times": lambda: pdist(np.repeat([[0.0], [1.0]], n // 2, axis=0)),
    }[made]()
    first, again = classical_scaling(d, n, 2), classical_scaling(d, n, 2)
    assert_same_bits(first.eigenvalues, again.eigenvalues)
    assert_same_bits(first.embedding, again.embedding)


# ---- how Euclidean -----------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(3, 25))
def test_the_exact_defect_matches_the_plain_one(seed, n):
    upper = np.triu(np.random.default_rng(seed).uniform(0.1, 2, size=(n, n)), 1)
    D = upper + upper.T
    assert euclidean_defect(naive.condensed(D), n) == pytest.approx(naive.naive_euclidean_defect(D), abs=1e-9)


def test_the_exact_defect_does_not_depend_on_the_threads_of_blas(rng):
    found = {n: [] for n in (200, 500)}
    for n, of_threads in found.items():
        d = pdist(rng.normal(size=(n, 5)), "cityblock")
        for count in (1, 2):
            with threadpool_limits(count, user_api="blas"):
                of_threads.append(euclidean_defect(d, n))
    assert all(one == two for one, two in found.values())


def test_euclidean_distances_have_no_defect(rng):
    X = scattered(rng, 30)
    assert euclidean_defect(pdist(X), 30) == 0.0
    assert classical_scaling(pdist(X), 30, 2, n_jobs=1).euclidean_defect == (0.0, 0.0)
    assert euclidean_defect(np.zeros(10), 5) == 0.0
    assert euclidean_defect(np.empty(0), 1) == 0.0


@settings(max_examples=40)
@given(
    seed=seeds,
    n=st.integers(4, 25),
    d=st.integers(1, 4),
    made=st.sampled_from(["any", "euclidean", "manhattan", "circle", "equal", "two far"]),
)
def test_the_bounds_contain_the_exact_defect(seed, n, d, made):
    rng = np.random.default_rng(seed)
    D = {
        "any": lambda: squareform(rng.uniform(0.1, 2, size=n * (n - 1) // 2)),
        "euclidean": lambda: squareform(pdist(scattered(rng, n))),
        "manhattan": lambda: squareform(pdist(scattered(rng, n), "cityblock")),
        "circle": lambda: geodesic_like(n),
        "equal": lambda: 1.0 - np.eye(n),
        "two far": lambda: 1.0 - np.eye(n) + 5.0 * (np.add.outer(np.arange(n), np.arange(n)) == 1),
    }[made]()
    low, high = bounds(naive.condensed(D), n, d)
    exact = naive.naive_euclidean_defect(D)
    assert 0 <= low <= high <= 1
    assert low <= exact + 1e-7
    assert high >= exact - 1e-7


def bounds(d, n, n_components):
    """The bounds that larger tables get, of a table small enough to know the exact share."""
    means = (squareform(d) ** 2).mean(axis=1)
    values, _ = naive.naive_classical_scaling(squareform(d), n_components)
    return scaling_module._defect_bounds(d, means, values)


@pytest.mark.parametrize("made", ["circle", "manhattan", "euclidean"])
def test_larger_tables_get_bounds(rng, made):
    n = 520
    D = {
        "circle": lambda: geodesic_like(n),
        "manhattan": lambda: squareform(pdist(scattered(rng, n), "cityblock")),
        "euclidean": lambda: squareform(pdist(scattered(rng, n, m=2))),
    }[made]()
    d = squareform(D, checks=False)
    low, high = classical_scaling(d, n, 2, n_jobs=1).euclidean_defect
    exact = euclidean_defect(d, n)
    assert low - 1e-7 <= exact <= high + 1e-7
    assert 0 <= low <= high < 1
    assert (high < 1e-3) == (made == "euclidean")


def test_smaller_tables_get_the_exact_share():
    D = geodesic_like(60)
    low, high = classical_scaling(naive.condensed(D), 60, 2, n_jobs=1).euclidean_defect
    assert low == high == pytest.approx(naive.naive_euclidean_defect(D), abs=1e-9)
    assert low > 0.01


# ---- residual variance -------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(4, 20), d=st.integers(1, 3))
def test_residual_variance_matches_the_plain_one(seed, n, d):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(n, 3)), rng.normal(size=(n, d))
    D = naive.distances(X)
    found = residual_variance(naive.condensed(D), Z)
    assert found == pytest.approx(naive.naive_residual_variance(D, Z), abs=1e-10)
    assert 0 <= found <= 1 + 1e-12


def test_a_perfect_map_has_no_residual_variance(rng):
    X = rng.normal(size=(30, 2))
    assert residual_variance(pdist(X), 5 * X + 1) == pytest.approx(0, abs=1e-12)


def test_a_map_without_spread_explains_nothing(rng):
    d = pdist(rng.normal(size=(10, 2)))
    assert residual_variance(d, np.zeros((10, 2))) == 1.0
    assert residual_variance(np.zeros(45), rng.normal(size=(10, 2))) == 1.0


@pytest.mark.parametrize("scale", [1e-100, 1e-70, 1e-30, 1e30, 1e70, 1e100])
def test_residual_variance_does_not_depend_on_the_unit(rng, scale):
    X, Z = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    expected = residual_variance(pdist(X), Z)
    assert residual_variance(scale * pdist(X), scale * Z) == pytest.approx(expected, abs=1e-9)
    assert residual_variance(scale * pdist(X), Z) == pytest.approx(expected, abs=1e-9)
