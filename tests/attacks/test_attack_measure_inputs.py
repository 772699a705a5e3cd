"""Measures by other doors: layouts and types of arrays, given distances, threads, laws between measures."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from isentropic import quality
from isentropic._core.errors import IsentropicError, IsentropicWarning
from isentropic._core.values import DistanceRows

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
MEASURES = {
    **{name: getattr(quality, name) for name in ("trustworthiness", "continuity", "lcmc", "mrre", "rnx_auc")},
    **{name: getattr(quality, name) for name in ("rnx_curve", "false_neighbors", "tears", "konig_measure")},
    **{name: getattr(quality, name) for name in ("kendall_tau", "spearman_rho", "pearson_r")},
    **{name: getattr(quality, name) for name in ("residual_variance", "topological_product")},
    "near_neighbor_share": lambda *sides, **options: (
        quality.near_neighbor_share(*sides, n_neighbors=2, **options).corrected
    ),
    "coranking_matrix": lambda *sides, **options: quality.coranking_matrix(*sides, **options).counts,
    "retained_structure": lambda *sides, **options: quality.retained_structure(*sides, **options).differences,
    "scaled stress": lambda *sides, **options: quality.kruskal_stress(*sides, kind="scaled", **options),
    "neighborhood stress": lambda *sides, **options: quality.neighborhood_stress(
        *sides, 2, kind="scaled", **options
    ),
}  # of these none has a unit
OF_RANKS = set(MEASURES) - {
    "near_neighbor_share", "pearson_r", "residual_variance", "topological_product", "scaled stress",
    "neighborhood stress"
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")


def numbers(found):
    return np.ravel(np.array(getattr(found, "value", found), float))


def tables(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 20)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, m))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, min(m, 2)))


@pytest.mark.parametrize("name", MEASURES)
def test_no_layout_type_or_thread_changes_a_bit(name):
    measure = MEASURES[name]
    for seed in range(2 * ATTACKS):
        X, Z = tables(seed)
        expected = numbers(measure(X, Z, n_jobs=1))
        read_only = X.copy()
        read_only.flags.writeable = False
        spread = np.repeat(X, 2, axis=1)[:, ::2]
        for form in (np.asfortranarray(X), spread, X.tolist(), read_only, X[::-1][::-1]):
            np.testing.assert_array_equal(numbers(measure(form, Z, n_jobs=1)), expected)
        np.testing.assert_array_equal(numbers(measure(X, Z, n_jobs=2)), expected)
        for dtype in (np.int8, np.int64, np.float16, np.float32):
            some = (20 * X).astype(dtype)
            doubles = numbers(measure(some.astype(float), Z, n_jobs=1))
            np.testing.assert_array_equal(numbers(measure(some, Z, n_jobs=1)), doubles)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("size", [5e-300, 1e-140, 1.0, 1e140, 1e300])
def test_given_distances_of_any_size_are_those_of_the_table(name, size):
    measure = MEASURES[name]
    for seed in range(ATTACKS):
        X, Z = tables(seed)
        expected = numbers(measure(X, Z, n_jobs=1))
        D = size * squareform(pdist(X))
        forms = [
            (D, "precomputed"),
            (squareform(D), "precomputed"),
            (DistanceRows(len(D), lambda rows, D=D: D[rows], "own"), "euclidean"),
            (DistanceRows(len(D), lambda rows, D=D: D[rows], "own", lambda i, j, D=D: D[i, j]), "euclidean"),
            (quality.distance_rows(size * X), "euclidean"),
            (quality.distance_rows(D, "precomputed"), "euclidean"),
        ]
        if size <= 1e140:
            forms.append((X, lambda x, y: size * float(np.sqrt(((x - y) ** 2).sum()))))
        for given, metric in forms:
            found = numbers(measure(given, Z, metric=metric, n_jobs=1))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_what_is_no_distance_or_no_number_is_refused(name, size):
    measure = MEASURES[name]
    X, Z = tables(1)
    D = size * squareform(pdist(X))
    for entries, value in (
        (((0, 1), (1, 0)), -size), (((0, 1), (1, 0)), np.nan), (((0, 1), (1, 0)), np.inf),
        (((0, 1),), 9 * size), (((1, 1),), size),
    ):  # fmt: skip
        wrong = D.copy()
        for entry in entries:
            wrong[entry] = value
        with pytest.raises(IsentropicError, match=" must be "):
            measure(wrong, Z, metric="precomputed")
    for sides in ((D[:-1], Z), (np.abs(D[0, 1:3]), Z)):
        with pytest.raises(IsentropicError, match=" must be "):
            measure(*sides, metric="precomputed")
    for value in (np.nan, np.inf, -np.inf):
        wrong = size * X
        wrong[0, 0] = value
        for sides in ((wrong, Z), (Z, wrong)):
            with pytest.raises(IsentropicError, match="finite"):
                measure(*sides)


@pytest.mark.parametrize("name", MEASURES)
def test_a_degenerate_side_has_a_number_or_a_reason(name):
    X, Z = tables(2)
    outlier, largest = 1e-200 * Z, np.where(X > 0, 1.7e308, -1.7e308)
    outlier[0] = 1e200
    for size in (5e-324, 1e-300, 1.0, 1e300):
        sides = [(size * X, 0 * Z), (0 * X + size, Z), (X, size * X), (X, outlier), (outlier, Z)]
        for one, other in [*sides, (largest, Z), (X, largest), (0 * X, 0 * Z)]:
            found = number_or_reason(MEASURES[name], one, other)
            assert " must be " in found if isinstance(found, str) else np.isfinite(found).all()


def number_or_reason(measure, *sides):
    try:
        return numbers(measure(*sides))
    except IsentropicError as error:
        return str(error)


@pytest.mark.parametrize("name", MEASURES)
def test_laws_between_sides(name):
    measure = MEASURES[name]
    for seed in range(2 * ATTACKS):
        X, Z = tables(seed)
        rng = np.random.default_rng(seed)
        expected = numbers(measure(X, Z))
        turned = X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0] + 3.0
        np.testing.assert_allclose(numbers(measure(turned, Z)), expected, rtol=1e-7, atol=1e-9)
        if name in OF_RANKS:
            D = squareform(pdist(X))
            for bent in (D**3, np.log1p(D), np.ldexp(D, 900)):
                np.testing.assert_array_equal(
                    numbers(measure(bent, Z, metric="precomputed")),
                    numbers(measure(D, Z, metric="precomputed")),
                )


@pytest.mark.parametrize("seed", range(4 * ATTACKS))
def test_rows_add_up_and_sides_change_places(seed):
    X, Z = tables(seed)
    sizes = (1e-250, 1.0, 1e250)
    for k in {1, len(X) // 2, len(X) - 1}:
        for one, other in ((size * X, Z / size) for size in sizes):
            trust = quality.trustworthiness(one, other, n_neighbors=k)
            assert trust == quality.continuity(other, one, n_neighbors=k)
            assert 0 <= trust <= 1
            rows = quality.false_neighbors(one, other, n_neighbors=[k, 1])
            assert 1 - rows[:, 0].mean() == pytest.approx(trust, abs=1e-12)
            np.testing.assert_array_equal(rows, quality.tears(other, one, n_neighbors=[k, 1]))
    for measure in (quality.kendall_tau, quality.spearman_rho, quality.pearson_r):
        assert measure(X, Z).value == pytest.approx(measure(1e250 * Z, 1e-250 * X).value, abs=1e-12)


@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
def test_a_column_far_smaller_than_another_orders_what_that_leaves_equal(size):
    """Beside a column of ones and twos another one that is 1e200 times smaller still tells rows apart."""
    rng = np.random.default_rng(0)
    fine = rng.normal(size=12)
    X = size * np.column_stack([np.repeat([1.0, 2.0], 6), 1e-200 * fine])
    Z = np.column_stack([np.repeat([0.0, 1e6], 6), fine])
    assert quality.trustworthiness(X, Z, n_neighbors=4) == 1.0
    assert quality.silhouette(X, np.repeat([0, 1], 6)) == 1.0
    near = quality.shared_neighbors([Z], 1).pairs
    assert len(near) > 0


def test_a_stress_beyond_all_numbers_says_so():
    X, Z = tables(3)
    with pytest.raises(IsentropicError, match=r"sammon_stress is undefined, got .* above 1\.8e308.*Scale"):
        quality.sammon_stress(1e-200 * X, Z)
    with pytest.raises(IsentropicError, match=r"raw_stress is undefined, got .* above 1\.8e308"):
        quality.kruskal_stress(1e308 * np.sign(X), Z, kind="raw")
    with pytest.raises(IsentropicError, match=r"normalized_stress is undefined"):
        quality.kruskal_stress(1e-200 * X, 1e200 * Z)
    assert quality.kruskal_stress(1e-100 * X, 1e200 * Z) == pytest.approx(
        1e300 * np.sqrt((pdist(Z) ** 2).sum() / (pdist(X) ** 2).sum())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        found = quality.assess(1e-200 * X, 1e200 * Z)
    assert {"sammon_stress", "normalized_stress", "neighborhood_stress"}.isdisjoint(found.measures)
    assert sum("above 1.8e308" in note for note in found.notes) == 2
    assert quality.Quality.from_json(found.to_json()).notes == found.notes
