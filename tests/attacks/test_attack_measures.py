"""Every public measure against plain twins: data and maps of all sizes, ties, duplicates, flat columns."""

from __future__ import annotations

import inspect
import itertools
import os
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import naive
import naive_measures as exact
import naive_trust
from isentropic import quality
from isentropic._core.errors import IsentropicWarning, UndefinedMeasureError
from isentropic.quality.measures import MEASURES
from naive_near import naive_near_share

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
SIZES = (1e-300, 1e-200, 1e-140, 1e-30, 1e-8, 1.0, 1e8, 1e30, 1e140, 1e150, 1e200, 1e300)
LARGEST = 1.7976931348623157e308
_LEAST = 2.0**-1074


@dataclass(frozen=True)
class Case:
    """A table, a map and classes of their rows, each side of a size of its own."""

    base_X: np.ndarray
    base_Z: np.ndarray
    sizes: tuple[float, float]
    y: np.ndarray
    k: int
    metric: str = "euclidean"

    @property
    def n(self):
        return len(self.base_X)

    @cached_property
    def X(self):
        return self.base_X * self.sizes[0]

    @cached_property
    def Z(self):
        return self.base_Z * self.sizes[1]

    @cached_property
    def D(self):
        return exact.exact_distances(self.X, self.metric)

    @cached_property
    def E(self):
        return exact.exact_distances(self.Z)

    @cached_property
    def ranks(self):
        return naive.naive_rank_matrix(self.D), naive.naive_rank_matrix(self.E)

    @cached_property
    def pairs(self):
        return exact.upper(self.D), exact.upper(self.E)

    def curve(self, name, ks=None):
        ks = range(1, self.n) if ks is None else ks
        return np.array([naive.naive_rank_measures(*self.ranks, k)[name] for k in ks])

    def rows(self, column):
        """Terms of every row in the sum of false or torn neighbours, as shares of the largest."""
        G = naive.naive_rank_weight(self.n, self.k)
        terms = naive.naive_rank_terms(*self.ranks, self.k)[:, column]
        return 2 * self.n / G * terms if G else np.zeros(self.n)

    def __str__(self):
        return f"{self.n} rows, sizes {self.sizes}, k {self.k}, {self.metric}"


# ---- twins -------------------------------------------------------------------------------------
# What each function gives for a case, and what it must: numbers, or None where the measure is undefined.


def _at_k(name):
    def attack(c):
        found = getattr(quality, name)(c.X, c.Z, n_neighbors=c.k, metric=c.metric, n_jobs=1)
        return found, c.curve(name, [c.k])[0]

    return attack


def _of_rows(name, column):
    def attack(c):
        return getattr(quality, name)(c.X, c.Z, n_neighbors=c.k, metric=c.metric, n_jobs=1), c.rows(column)

    return attack


def _of_pairs(name, twin):
    def attack(c):
        expected = twin(*c.pairs) if c.n > 2 else None
        found = _or_none(lambda: getattr(quality, name)(c.X, c.Z, metric=c.metric, n_jobs=1), expected)
        return getattr(found, "value", found), expected

    return attack


def _or_none(call, expected):
    """What the call gives; None where it refuses a measure that is undefined, or beyond all numbers."""
    if expected is not None and abs(expected) <= LARGEST:
        return call()
    with pytest.raises(UndefinedMeasureError, match=r"undefined" if expected is None else r"above 1\.8e308"):
        call()
    return expected


def kruskal(c):
    kinds = ("normalized", "scaled", "raw")
    expected = [exact.exact_stress(*c.pairs, kind) for kind in kinds]
    options = {"metric": c.metric, "n_jobs": 1}
    return [
        _or_none(lambda kind=kind: quality.kruskal_stress(c.X, c.Z, kind=kind, **options), one)
        for kind, one in zip(kinds, expected, strict=True)
    ], expected


def neighborhood(c):
    kinds = ("normalized", "scaled")
    expected = [exact.exact_neighborhood_stress(c.D, c.E, c.k, kind) for kind in kinds]
    options = {"metric": c.metric, "n_jobs": 1}
    return [
        _or_none(lambda kind=kind: quality.neighborhood_stress(c.X, c.Z, c.k, kind=kind, **options), one)
        for kind, one in zip(kinds, expected, strict=True)
    ], expected


def residual(d, z):
    r = exact.exact_pearson(d, z)
    return None if r is None else 1 - r * r


def mrre(c):
    found = quality.mrre(c.X, c.Z, n_neighbors=c.k, metric=c.metric, n_jobs=1)
    return found, [c.curve(name, [c.k])[0] for name in ("mrre_false", "mrre_missing")]


def shepard(c):
    if max(*c.pairs[0], *c.pairs[1]) > LARGEST:
        return [], []
    found = quality.shepard_pairs(c.X, c.Z, metric=c.metric, n_jobs=1)
    return [*found.given, *found.mapped], [*c.pairs[0], *c.pairs[1]]


def rows_of_distances(c):
    if max(c.pairs[0]) > LARGEST:
        return [], []
    found = quality.distance_rows(c.X, c.metric, n_jobs=1)
    return found.rows(np.arange(c.n)), c.D


def retained(c):
    found = quality.retained_structure(c.X, c.Z, metric=c.metric, n_jobs=1)
    R, r = c.ranks
    return [*found.differences.ravel(), found.error], [*(r - R).ravel(), np.abs(r - R).sum()]


def konig(c):
    k1, k2 = min(2, c.k), c.k
    found = quality.konig_measure(c.X, c.Z, k1=k1, k2=k2, metric=c.metric, n_jobs=1)
    return found, naive.naive_konig_measure(c.D, c.E, k1, k2)


def classes(name):
    def attack(c):
        options = () if name == "silhouette" else (c.k,)
        found = getattr(quality, name)(c.Z, c.y, *options, n_jobs=1)
        votes = naive.naive_votes(c.E, c.y.tolist(), c.k)
        return found, {
            "silhouette": lambda: exact.exact_silhouette(c.E, c.y.tolist()),
            "knn_accuracy": lambda: np.mean(np.array(votes) == c.y),
            "kappa": lambda: naive.naive_kappa(c.y.tolist(), votes),
        }[name]()

    return attack


def assessed(c):
    """All measures that assess lists, by the same twins."""
    found = quality.assess(c.X, c.Z, c.y, n_neighbors=c.k, metric=c.metric, n_jobs=1)
    expected = expected_measures(c)
    numbers = {name: value for name, value in expected.items() if value is not None and value <= LARGEST}
    differ = set(found.measures) ^ set(numbers)
    assert not differ, (differ, found.notes, "a new measure has its twin in expected_measures of this file")
    assert all(any(name in note for note in found.notes) for name in expected if name not in numbers)
    return [found.measures[name].value for name in numbers], list(numbers.values())


def expected_measures(c):
    """Every line of the table of measures, at the k of the case."""
    at_k = naive.naive_rank_measures(*c.ranks, c.k)
    d, z = c.pairs
    votes = naive.naive_votes(c.E, c.y.tolist(), c.k)
    _, q_local, q_global = naive.naive_local_and_global(*c.ranks)
    R, r = c.ranks
    curves = {f"{name}({c.k})": value for name, value in at_k.items() if MEASURES[name].is_reported}
    near = naive_near_share(c.D, c.E, c.k)[2]
    return (
        curves
        | ({f"near_neighbors({c.k})": near} if c.k < c.n - 1 else {})
        | {
            "rnx_local": naive.naive_rnx_auc(*c.ranks, c.k),
            "rnx_auc": naive.naive_rnx_auc(*c.ranks),
            "q_local": q_local,
            "q_global": q_global,
            "kendall_tau": exact.exact_tau(d, z),
            "spearman_rho": exact.exact_pearson(exact.exact_ranks(d), exact.exact_ranks(z)),
            "pearson_r": exact.exact_pearson(d, z),
            "residual_variance": residual(d, z),
            "raw_stress": exact.exact_stress(d, z, "raw"),
            "normalized_stress": exact.exact_stress(d, z, "normalized"),
            "scaled_stress": exact.exact_stress(d, z, "scaled"),
            "sammon_stress": exact.exact_sammon(d, z),
            "neighborhood_stress": exact.exact_neighborhood_stress(c.D, c.E, c.k, "normalized"),
            "scaled_neighborhood_stress": exact.exact_neighborhood_stress(c.D, c.E, c.k, "scaled"),
            "topological_product": exact.exact_topological_product(c.D, c.E),
            "konig_measure": naive.naive_konig_measure(c.D, c.E, 4, 10),
            "retained_structure_error": float(np.abs(R - r).sum()),
            "silhouette": exact.exact_silhouette(c.E, c.y.tolist()),
            "knn_accuracy": float(np.mean(np.array(votes) == c.y)),
            "kappa": naive.naive_kappa(c.y.tolist(), votes),
        }
    )


def product(c):
    expected = exact.exact_topological_product(c.D, c.E)
    call = quality.topological_product
    return _or_none(lambda: call(c.X, c.Z, metric=c.metric, n_jobs=1), expected), expected


def compared(c):
    second = np.ascontiguousarray(c.Z[::-1])
    found = quality.compare_quality(c.X, c.Z, second, n_neighbors=1, metric=c.metric, n_jobs=1)
    other = naive.naive_rank_matrix(exact.exact_distances(second))
    of = [naive.naive_rank_measures(c.ranks[0], r, 1) for r in (c.ranks[1], other)]
    names = ("trustworthiness", "continuity", "lcmc", "r_nx", "mrre_false", "mrre_missing")
    values = [[side[f"{name}(1)"] for name in names] for side in (found.first, found.second)]
    gaps = [found.differences[f"{name}(1)"].value for name in names]
    return [*values[0], *values[1], *gaps], [
        *(of[0][name] for name in names),
        *(of[1][name] for name in names),
        *(of[1][name] - of[0][name] for name in names),
    ]


def by_chance(c):
    found = quality.baseline(c.X, c.Z, n_neighbors=c.k, n_permutations=2, metric=c.metric, n_jobs=1)
    assert all(p in (1 / 3, 2 / 3, 1.0) for p in found.p_values.values())
    return found.observed["trustworthiness"], c.curve("trustworthiness")


def agreement(c):
    first, second = c.base_Z * c.sizes[0], c.base_Z[:, ::-1] ** 3 * min(c.sizes[1], 1e290)
    found = quality.map_agreement(first, second, n_neighbors=c.k, n_jobs=1)
    assert np.isfinite(found.moved).all()
    assert 0 <= found.correlation <= 1
    lists = [naive.naive_neighbors(exact.exact_distances(Z), c.k)[0].tolist() for Z in (first, second)]
    return found.shares, [len(set(a) & set(b)) / c.k for a, b in zip(*lists, strict=True)]


def shared(c):
    found = quality.shared_neighbors([c.X, c.Z], c.k, n_jobs=1)
    lists = [naive.naive_neighbors(exact.exact_distances(Z), c.k)[0].tolist() for Z in (c.X, c.Z)]
    both = [set(a) & set(b) for a, b in zip(*lists, strict=True)]
    pairs = [[i, j] for i in range(c.n) for j in sorted(both[i]) if i < j and i in both[j]]
    assert found.pairs.tolist() == pairs
    return found.shares, [len(one) / c.k for one in both]


def movement(c):
    after = c.base_Z[:, ::-1] * 1.5 + np.arange(c.n)[:, None]
    if np.ptp(c.base_Z, axis=0).max() == 0 or c.base_Z.shape[1] > 2:
        return [], []
    size = min(c.sizes[1], 1e290)
    found = quality.aligned_distance(c.base_Z * size, after * size)
    return found.shares, exact.exact_movement(c.base_Z, after)


def jumps(c):
    place = np.random.default_rng(c.n).normal(size=(c.base_X.shape[1], 2))
    size = min(c.sizes[0], 1e290)
    Z, other = c.base_X @ place, min(c.sizes[1], 1e290)
    if np.unique(c.base_X, axis=0).shape[0] < c.n:
        return [], []

    def of_rows(rows):
        return np.tanh(rows / size @ place) * other

    found = quality.map_jumps(of_rows, c.base_X * size, np.tanh(Z) * other, n_neighbors=c.k, n_jobs=1)
    rows = np.arange(c.n)
    twin = naive_trust.naive_jumps(lambda rows: np.tanh(rows @ place), c.base_X, np.tanh(Z), rows, c.k, 4)
    return found.jumps, np.maximum(twin, 0.0)


def places_tested(c):
    found = quality.row_tests(c.X, c.Z, random_state=3, n_jobs=1)
    if any(len(set(exact.upper(exact.exact_distances(T)))) < c.n * (c.n - 1) // 2 for T in (c.X, c.Z)):
        return found.p > 0, np.ones(c.n)  # the twin breaks no ties
    return [found.reliability, found.p], naive_trust.naive_row_tests(c.base_X, c.base_Z, range(c.n), 3)


def selected(name):
    def attack(c):
        lists = naive.naive_neighbors(c.D, c.k)[0]
        rows = np.flatnonzero(np.arange(c.n) % 3 != 1)
        kept, chance, left_out, strangers, corrected = exact.naive_selection(lists.tolist(), rows.tolist())
        if name == "corrected_selection":
            return quality.corrected_selection(lists, rows), corrected
        found = quality.check_selection(lists, rows)
        assert (found.left_out.tolist(), found.strangers.tolist()) == (left_out, strangers)
        return [found.inside, found.chance], [kept, chance]

    return attack


def coranking(c):
    found = quality.coranking_matrix(c.X, c.Z, metric=c.metric, n_jobs=1)
    return found.counts, naive.naive_coranking(*c.ranks)


def rnx_curve(c):
    return quality.rnx_curve(c.X, c.Z, metric=c.metric, n_jobs=1), c.curve("r_nx", range(1, c.n - 1))


def rnx_auc(c):
    return quality.rnx_auc(c.X, c.Z, metric=c.metric, n_jobs=1), naive.naive_rnx_auc(*c.ranks)


def near(c):
    found = quality.near_neighbor_share(c.X, c.Z, n_neighbors=c.k, metric=c.metric, n_jobs=1)
    return (found.share, found.chance, found.corrected), naive_near_share(c.D, c.E, c.k)


# What is attacked by which twin, from how many rows on.
TWINS = {
    "assess": (assessed, 3), "trustworthiness": (_at_k("trustworthiness"), 3),
    "continuity": (_at_k("continuity"), 3), "lcmc": (_at_k("lcmc"), 3), "mrre": (mrre, 3),
    "near_neighbor_share": (near, 3),
    "rnx_curve": (rnx_curve, 3), "rnx_auc": (rnx_auc, 3), "coranking_matrix": (coranking, 3),
    "false_neighbors": (_of_rows("false_neighbors", 0), 3), "tears": (_of_rows("tears", 1), 3),
    "konig_measure": (konig, 3), "retained_structure": (retained, 3), "topological_product": (product, 3),
    "kendall_tau": (_of_pairs("kendall_tau", exact.exact_tau), 3),
    "spearman_rho": (_of_pairs("spearman_rho", lambda d, z: exact.exact_pearson(
        exact.exact_ranks(d), exact.exact_ranks(z))), 3),
    "pearson_r": (_of_pairs("pearson_r", exact.exact_pearson), 3),
    "residual_variance": (_of_pairs("residual_variance", residual), 3),
    "sammon_stress": (_of_pairs("sammon_stress", exact.exact_sammon), 3),
    "kruskal_stress": (kruskal, 3), "neighborhood_stress": (neighborhood, 3), "shepard_pairs": (shepard, 3),
    "silhouette": (classes("silhouette"), 3), "knn_accuracy": (classes("knn_accuracy"), 3),
    "kappa": (classes("kappa"), 3), "compare_quality": (compared, 10), "baseline": (by_chance, 3),
    "map_agreement": (agreement, 3), "shared_neighbors": (shared, 3), "aligned_distance": (movement, 3),
    "map_jumps": (jumps, 3), "row_tests": (places_tested, 8),
    "check_selection": (selected("check_selection"), 3),
    "corrected_selection": (selected("corrected_selection"), 3), "distance_rows": (rows_of_distances, 3),
}  # fmt: skip


def test_every_public_measure_has_a_twin():
    functions = {name for name in quality.__all__ if inspect.isfunction(getattr(quality, name))}
    assert set(TWINS) == functions, f"{set(TWINS) ^ functions}: a line of TWINS for each public function"
    with exact.many_digits():
        is_reported = {name.split("(")[0] for name in expected_measures(next(cases(0)))}
    differ = is_reported ^ {kind.name for kind in MEASURES.values() if kind.is_reported}
    assert not differ, f"{differ}: expected_measures of this file has a twin of each reported measure"


# ---- attacks -----------------------------------------------------------------------------------


def cases(seed):
    """Tables by every size on each side; ties, duplicates and flat columns, n from 3 up, k at its ends."""
    rng = np.random.default_rng(seed)
    kinds = itertools.cycle(("spread", "ties", "duplicates", "flat", "unlike"))
    metrics = itertools.cycle(("euclidean", "euclidean", "sqeuclidean", "cityblock", "cosine", "chebyshev"))
    for size in SIZES:
        for sizes in ((size, size), (size, 1.0), (1.0, size), (size, 1 / size)):
            kind, metric = next(kinds), next(metrics)
            if metric == "cosine":
                kind = "spread"  # rows of one direction are as far apart as rounding has it
            n, m, d = int(rng.integers(3, 13)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
            m += metric == "cosine"
            X, Z = rng.normal(size=(n, m)), rng.normal(size=(n, d))
            if kind == "ties":  # whole numbers by a power of two: equal distances stay equal
                X, Z = np.round(2 * X) + 1.0, np.round(2 * Z)
                sizes = tuple(2.0 ** np.round(np.log2(one)) for one in sizes)
            elif kind == "duplicates":
                X, Z = X[rng.integers(0, n, n)], Z[rng.integers(0, n, n)]
            elif kind == "flat":
                X[:, 0], Z[:, 0] = 3.0, -1.0
            elif kind == "unlike":
                X, Z = X * 10.0 ** -np.arange(m), Z * 10.0 ** -np.arange(d)
            y = np.array([0, 1, *rng.integers(0, 2, n - 2)])
            order = rng.permutation(n)
            k = (1, n - 1, int(rng.integers(1, n)))[rng.integers(3)]
            yield Case(X[order], Z[order], sizes, y, k, metric)


def check(name, case):
    attack, least = TWINS[name]
    if case.n < least:
        return
    with warnings.catch_warnings(), exact.many_digits():
        warnings.simplefilter("ignore", IsentropicWarning)  # of rows that are all equal
        found, expected = attack(case)
    assert same(found, expected), f"{name} of {case}: {found} is not {expected}"


def same(found, expected):
    """Equal up to rounding; None only where None is expected."""
    found, expected = (np.ravel(np.array(side, object)) for side in (found, expected))
    return len(found) == len(expected) and all(
        (a is None) == (b is None) and (a is None or close(float(a), float(b)))
        for a, b in zip(found, expected, strict=True)
    )


def close(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or max(abs(a), abs(b)) * 1e-9 < _LEAST or (
        abs(a - b) <= 1e-9 and max(abs(a), abs(b)) <= 1
    )  # fmt: skip


def test_the_comparison_notices_what_differs():
    assert same([1.0, None], [1.0 + 1e-12, None])
    assert same([1e300], [1e300 * (1 + 1e-12)])
    for found, expected in (([1.0], [1.1]), ([1.0], [None]), ([0.0], [1e300]), ([1.0], [1.0, 1.0])):
        assert not same(found, expected)


@pytest.mark.parametrize("name", TWINS)
def test_a_measure_is_that_of_its_twin_at_every_size(name):
    for seed in range(2 * ATTACKS):
        for case in cases(seed):
            check(name, case)
