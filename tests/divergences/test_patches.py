"""Gaussians of patches: against covariances of scikit-learn, both forms against each other, odd patches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isentropic._core.errors import InvalidInputError, MemoryBudgetError
from isentropic._core.runtime import config_context
from isentropic.divergences import EDGE_DIVERGENCES, noise_floor, patch_gaussians, patch_members
from isentropic.divergences.gaussian_divergences import kl, renyi
from isentropic.divergences.patches import cheapest_form
from naive import naive_neighbors
from naive_entropic import naive_divergences, naive_patch

RULES = [0.1, 1e-6, "oas", "ledoit-wolf", "reference"]
ORDER = 0.3


def curved(n, m, seed=0):
    """Rows near a surface of three dimensions, with noise."""
    random = np.random.default_rng(seed)
    base = random.normal(size=(n, 3))
    X = np.column_stack([base, base**2, np.sin(2 * base)]) @ random.normal(size=(9, m))
    return X + 0.1 * random.normal(size=(n, m))


def neighbours(X, k):
    indices, _ = naive_neighbors(cdist(X, X), k)
    heads = np.repeat(np.arange(len(X)), k)
    return patch_members(indices), heads, indices.ravel()


@pytest.mark.parametrize("form", ["full", "low-rank"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("m", "k"), [(4, 12), (12, 5), (1, 5)])
def test_means_and_covariances_are_those_of_scikit_learn(form, rule, m, k):
    X = curved(40, m)
    members, _, _ = neighbours(X, k)
    patches = patch_gaussians(X, members, regularization=rule, form=form)
    floor = noise_floor(X)
    assert_allclose(floor, 1e-12 * np.trace(np.atleast_2d(np.cov(X, rowvar=False))) / m)
    for i in range(0, 40, 7):
        mean, S = naive_patch(X, members[i], rule, floor)
        assert_allclose(patches.means[i], mean, atol=1e-12)
        assert_allclose(patches.covariance(i), S, atol=1e-9 * np.trace(S))
        assert_allclose(patches.variances[i], np.diag(S), atol=1e-9 * np.trace(S))
        assert_allclose(patches.log_dets[i], np.linalg.slogdet(S)[1], rtol=1e-4 if rule == 1e-6 else 1e-8)


@pytest.mark.parametrize("form", ["full", "low-rank"])
def test_divergences_of_patches_are_the_printed_formulas(form):
    X = curved(30, 6)
    members, heads, tails = neighbours(X, 4)
    patches = patch_gaussians(X, members, regularization=0.1, form=form)
    names = {"kl": "symmetrised kl"}
    for name in ("kl", "bhattacharyya", "hellinger", "jeffreys-matusita", "cauchy-schwarz"):
        found = EDGE_DIVERGENCES[name](patches, heads, tails)
        for e in range(0, len(heads), 13):
            pair = [naive_patch(X, members[i], 0.1, 0.0) for i in (heads[e], tails[e])]
            expected = naive_divergences(*pair[0], *pair[1], ORDER)[names.get(name, name)]
            assert_allclose(found[e], expected, rtol=1e-8, atol=1e-7, err_msg=name)


def tight(n, m, spread):
    """Five groups, each ``spread`` wide: patches that nearly coincide, far smaller than the data."""
    return np.random.default_rng(1).normal(size=(5, m))[np.arange(n) % 5] + spread * curved(n, m) / 3


# As near as the precision of the data allows: noise of at least 1e-6 of the mean variance, patches of at
# least 1e-3 of the spread of the data.
AGREEING = {"wide": lambda m: curved(50, m) + 5.0, "tight": lambda m: tight(60, m, 0.002)}


@pytest.mark.parametrize(
    ("rule", "m", "k"),
    [
        (rule, m, k)
        for rule in (1e-6, 0.1, "oas", "ledoit-wolf", "reference")
        for m, k in ((30, 8), (60, 20), (5, 12))
        if not (rule == "reference" and m < k)  # nothing is added to a patch that is not singular
    ],
)
@pytest.mark.parametrize("route", ["rows", "gram"])
@pytest.mark.parametrize("table", AGREEING)
def test_all_routes_agree(rule, m, k, route, table):
    X = AGREEING[table](m)
    members, heads, tails = neighbours(X, k)
    full = patch_gaussians(X, members, regularization=rule, form="full")
    n_edges = len(heads) if route == "gram" else 0
    low = patch_gaussians(X, members, regularization=rule, form="low-rank", n_edges=n_edges)
    assert (low._gram is not None) == (route == "gram")
    others = {"kl one way": kl, "renyi 0.3": lambda *edges: renyi(*edges, order=ORDER)}
    for name, divergence in {**EDGE_DIVERGENCES, **others}.items():
        a, b = divergence(low, heads, tails), divergence(full, heads, tails)
        assert np.all(np.abs(a - b) <= 1e-8 * (m + np.abs(b))), name


@pytest.mark.parametrize("form", ["full", "low-rank"])
@pytest.mark.parametrize("step", [1e-2, 1e-5, 1e-8])
def test_nearly_equal_patches_keep_their_digits(form, step):
    """A patch moved by a step of t: delta' S^-1 delta = t^2 q, so Hellinger = sqrt(1 - exp(-t^2 q / 8))."""
    X = curved(20, 6)
    members = np.stack([np.arange(10), 20 + np.arange(10)])
    moved = np.concatenate([X, X + step * np.arange(1, 7)])
    patches = patch_gaussians(moved, members, regularization=0.1, form=form)
    delta = np.arange(1, 7)
    expected = step * np.sqrt(delta @ np.linalg.solve(patches.covariance(0), delta) / 8)
    found = EDGE_DIVERGENCES["hellinger"](patches, np.array([0]), np.array([1]))[0]
    assert_allclose(found, np.sqrt(-np.expm1(-(expected**2))), rtol=1e-6)


def test_tight_patches_far_from_the_centre_take_the_route_on_rows():
    random = np.random.default_rng(0)
    X = np.concatenate([curved(60, 30), 100.0 + 1e-4 * random.normal(size=(20, 30))])
    members, heads, tails = neighbours(X, 6)
    full = patch_gaussians(X, members, regularization=0.1, form="full")
    low = patch_gaussians(X, members, regularization=0.1, form="low-rank", n_edges=len(heads))
    assert low._small[60:].all()
    a, b = (EDGE_DIVERGENCES["kl"](form, heads, tails) for form in (low, full))
    assert_allclose(a, b, atol=1e-8 * 30, rtol=1e-8)


@pytest.mark.parametrize("form", ["full", "low-rank"])
def test_shorter_patches_count_their_own_rows_only(form):
    X = curved(50, 8)
    members, heads, tails = neighbours(X, 9)
    sizes = np.where(np.arange(50) % 2, 10, 6)
    mixed = patch_gaussians(X, members, sizes=sizes, regularization="oas", form=form)
    for i in (0, 1, 2, 3):
        mean, S = naive_patch(X, members[i, : sizes[i]], "oas", 0.0)
        assert_allclose(mixed.means[i], mean)
        assert_allclose(mixed.covariance(i), S, atol=1e-10 * np.trace(S))
    other = patch_gaussians(X, members, sizes=sizes, regularization="oas", form="full")
    assert_allclose(
        EDGE_DIVERGENCES["kl"](mixed, heads, tails), EDGE_DIVERGENCES["kl"](other, heads, tails), atol=1e-7
    )


@pytest.mark.parametrize("form", ["full", "low-rank"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", EDGE_DIVERGENCES)
def test_odd_patches_stay_finite(form, rule, name):
    X = curved(60, 6)
    X[:12] = X[0]  # patches of equal rows
    X[20:40, 2] = 7.0  # a feature that is constant within patches
    members, heads, tails = neighbours(X, 5)
    patches = patch_gaussians(X, members, regularization=rule, form=form)
    found = EDGE_DIVERGENCES[name](patches, heads, tails)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    # Two patches of the same rows are no distance apart: at most rounding, of their huge precisions.
    assert found[(heads < 6) & (tails < 6)].max() < 1e-6


@pytest.mark.parametrize("form", ["full", "low-rank"])
def test_a_table_of_equal_rows_has_no_divergences(form):
    X = np.ones((10, 3))
    members, heads, tails = neighbours(X, 4)
    for rule in RULES:
        patches = patch_gaussians(X, members, regularization=rule, form=form)
        assert_allclose(EDGE_DIVERGENCES["kl"](patches, heads, tails), 0.0, atol=1e-9)


def test_threads_and_company_do_not_change_a_bit():
    X = curved(60, 30)
    members, heads, tails = neighbours(X, 7)
    for form in ("full", "low-rank"):
        kept = []
        for n_jobs in (1, 2):
            patches = patch_gaussians(X, members, form=form, n_jobs=n_jobs)
            kept.append([EDGE_DIVERGENCES[n](patches, heads, tails) for n in EDGE_DIVERGENCES])
        assert_array_equal(kept[0], kept[1])
        alone = patch_gaussians(X, members[:2], form=form)
        assert_array_equal(EDGE_DIVERGENCES["kl"](alone, np.array([0]), np.array([1])),
                           EDGE_DIVERGENCES["kl"](patches, np.array([0]), np.array([1])))  # fmt: skip


def test_the_cheaper_form_is_chosen():
    assert cheapest_form(1000, 41, 5, 40_000) == "full"
    assert cheapest_form(5000, 21, 784, 100_000) == "low-rank"
    assert cheapest_form(10**6, 41, 20, 4 * 10**7) == "low-rank"  # 6.4 GB of matrices
    with config_context(memory_limit=10**6):
        with pytest.raises(MemoryBudgetError, match="1,000 patches in 30 dimensions"):
            patch_gaussians(np.ones((1000, 30)), np.zeros((1000, 3), np.int64), form="full")
        with pytest.raises(
            MemoryBudgetError, match=r"Patches of 41 rows around each of 1,000 .*fewer neighbours"
        ):
            patch_gaussians(np.ones((1000, 60)), np.zeros((1000, 41), np.int64), form="low-rank")


def test_memory_decides_only_where_the_forms_agree():
    with config_context(memory_limit=10**6):
        for rule in (1.0, 1e-6, "oas", "ledoit-wolf"):
            assert cheapest_form(1000, 41, 30, 40_000, rule) == "low-rank"
        for rule in (0.0, 1e-9, "reference"):
            assert cheapest_form(1000, 41, 30, 40_000, rule) == "full"


@pytest.mark.parametrize("rule", [-0.1, "oracle", None, True, np.nan])
def test_bad_regularizations_are_refused(rule):
    with pytest.raises(
        InvalidInputError, match="regularization must be a number of at least 0, or one of oas"
    ):
        patch_gaussians(np.ones((5, 2)), np.zeros((5, 3), np.int64), regularization=rule)


def test_pairs_outside_the_patches_are_refused():
    patches = patch_gaussians(curved(10, 2), np.array([[0, 1, 2], [3, 4, 5]]))
    with pytest.raises(InvalidInputError, match="heads and tails must be numbers of 2 Gaussians, in pairs"):
        EDGE_DIVERGENCES["kl"](patches, np.array([0]), np.array([2]))
    with pytest.raises(InvalidInputError, match="in pairs"):
        EDGE_DIVERGENCES["bhattacharyya"](patches, np.array([0, 1]), np.array([1]))
    with pytest.raises(InvalidInputError, match="members must be positions from 0 to 9"):
        patch_gaussians(curved(10, 2), np.array([[0, 10]]))
