"""PaCMAP: quality beside pacmap's, bits, placement, bad input."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import processes
from assertions import assert_same_bits
from isentropic import Geodesic, Knn, PaCMAP
from isentropic._core.errors import (
    InvalidInputError,
    IsentropicWarning,
    MemoryBudgetError,
    NeighborsClippedWarning,
)
from isentropic._core.runtime import config_context
from isentropic.neighbors import nearest_neighbors
from isentropic.objectives import mean_pair_cost

DIGITS = load_digits().data[:500]


@pytest.fixture(scope="module")
def fitted():
    return PaCMAP(random_state=0).fit(DIGITS)


def mammoth(n=600):
    """A body, four legs, a trunk: parts of different shapes that hang together in three dimensions."""
    rng = np.random.default_rng(0)
    body = rng.normal(size=(n // 2, 3)) * [2.0, 0.7, 0.7]
    parts = [body]
    for x, y in ((1.5, 0.5), (1.5, -0.5), (-1.5, 0.5), (-1.5, -0.5)):
        parts.append(np.column_stack([rng.normal(x, 0.1, n // 10), rng.normal(y, 0.1, n // 10),
                                      rng.uniform(-3, 0, n // 10)]))  # fmt: skip
    t = rng.uniform(0, 3, n // 10)
    parts.append(np.column_stack([3.5 + np.sin(t), 0 * t, -t]) + rng.normal(0, 0.05, (n // 10, 3)))
    return np.vstack(parts)


@pytest.mark.parametrize(("X", "least"), [(DIGITS, 0.96), (mammoth(), 0.955)], ids=["digits", "mammoth"])
def test_neighbours_are_kept_as_well_as_by_pacmap(X, least):
    assert trustworthiness(X, PaCMAP().fit(X).embedding_, n_neighbors=15) > least


def test_the_cost_is_the_mean_over_near_and_further_pairs(rng):
    Z = rng.normal(size=(6, 2))
    near = np.array([[1], [2], [3], [4], [5], [0]])
    far = np.array([[3, 4], [4, -1], [5, 0], [0, -1], [1, 2], [2, 3]])
    u = 1 + cdist(Z, Z, "sqeuclidean")
    pulls = [u[i, j] / (10 + u[i, j]) for i in range(6) for j in near[i]]
    pushes = [1 / (1 + u[i, j]) for i in range(6) for j in far[i] if j >= 0]
    assert mean_pair_cost(near, far, Z) == pytest.approx(np.mean(pulls + pushes), rel=1e-12)


def test_the_cost_falls():
    assert PaCMAP().fit(DIGITS[:60]).cost_ < PaCMAP(max_iter=0).fit(DIGITS[:60]).cost_


def test_the_same_seed_has_the_same_bits_in_another_process(fitted):
    script = (
        "from sklearn.datasets import load_digits; from isentropic import PaCMAP; import hashlib\n"
        "Z = PaCMAP(random_state=0, n_jobs=1).fit(load_digits().data[:500]).embedding_\n"
        "print(hashlib.sha256(Z.tobytes()).hexdigest())"
    )
    done = processes.run(script)
    assert done.stdout.split() == [hashlib.sha256(fitted.embedding_.tobytes()).hexdigest()], done.stderr


def test_a_row_placed_as_new_lies_where_it_lay(fitted):
    moved = fitted.transform(DIGITS + 1e-9)
    away = np.linalg.norm(moved - fitted.embedding_, axis=1) / np.ptp(fitted.embedding_, axis=0).max()
    assert np.median(away) < 0.02


def test_a_new_row_among_its_equals_by_the_metric_lies_with_them(rng):
    """Multiples of a row are at the cosine distance 0 from it."""
    X = rng.uniform(0, 1, size=(60, 4))
    X[:10] = X[0] * 2.0 ** np.arange(10)[:, None]
    model = PaCMAP(5, metric="cosine", max_iter=100).fit(X)
    places, middle = model.embedding_[:10], model.embedding_[:10].mean(axis=0)
    away = np.linalg.norm(model.transform(X[:1] * [[2.0**-3], [2.0**12]]) - middle, axis=1)
    assert away.max() <= np.linalg.norm(places - middle, axis=1).max()


def test_given_lists_geodesics_and_other_dimensions(roll):
    lists = nearest_neighbors(DIGITS[:200], Knn(15))
    assert PaCMAP(n_components=3, neighbors=lists, max_iter=10).fit(DIGITS[:200]).embedding_.shape == (200, 3)
    model = PaCMAP(metric=Geodesic(8), n_components=1, max_iter=20).fit(roll[:150])
    assert np.isfinite(model.transform(roll[150:160])).all()


def test_more_neighbours_than_rows():
    with pytest.warns(
        NeighborsClippedWarning, match=r"at most 3 \(three quarters of .* apart\), got 10: 3 are"
    ):
        assert PaCMAP(max_iter=5).fit(DIGITS[:5]).transform(DIGITS[5:7]).shape == (2, 2)


@pytest.mark.parametrize("k", [79, 1000])
def test_rows_are_left_to_hold_a_map_of_nearly_all_pairs_apart(k):
    with pytest.warns(NeighborsClippedWarning, match="59 are used"):
        Z = PaCMAP(k, max_iter=100).fit(DIGITS[:80]).embedding_
    assert np.ptp(Z, axis=0).min() > 0.5
    assert_same_bits(Z, PaCMAP(59, max_iter=100).fit(DIGITS[:80]).embedding_)


def test_a_map_that_nothing_holds_apart_is_told():
    with pytest.warns(IsentropicWarning, match="shrank to a point.* Take a larger further_ratio"):
        PaCMAP(further_ratio=0).fit(DIGITS[:80])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"mid_near_ratio": -1}, "mid_near_ratio must be a number of at least 0"),
        ({"further_ratio": np.nan}, "further_ratio must be a number of at least 0"),
        ({"further_ratio": 1e308}, "further_ratio must be a number of at least 0 and at most 1e6"),
        ({"max_iter": -1}, "max_iter must be a number of steps"),
        ({"init": "spectral"}, "init must be one of pca, random"),
        ({"init": np.full((20, 2), np.nan)}, "infinite or missing numbers"),
    ],
)
def test_bad_parameters_are_told(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        PaCMAP(**{"n_neighbors": 5, **parameters}).fit(DIGITS[:20])


def test_a_failed_refit_changes_nothing():
    model = PaCMAP(5).fit(DIGITS[:30])
    placed = model.transform(DIGITS[30:40])
    model.set_params(n_neighbors=9, init=np.zeros((3, 3)), further_ratio=0.5)
    with pytest.raises(InvalidInputError, match="init must be"):
        model.fit(DIGITS[100:300])
    assert_same_bits(model.transform(DIGITS[30:40]), placed)


def test_memory_is_estimated_first():
    with config_context(memory_limit=1000), pytest.raises(MemoryBudgetError, match="PaCMAP of 500 rows"):
        PaCMAP().fit(DIGITS)


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 30}, {"mid_near_ratio": 5.0}])
def test_no_more_memory_is_taken_than_estimated(rng, parameters):
    X, model = rng.normal(size=(6000, 3)), PaCMAP(max_iter=1, **parameters)
    model.fit(X[:300])  # what is compiled takes memory too
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with config_context(memory_limit=peak), pytest.raises(MemoryBudgetError, match="PaCMAP of 6,000 rows"):
        model.fit(X)
