"""TCIE: boundaries found, planted strips with a hole, given boundaries, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform

from isentropic import TCIE, Geodesic, Isomap, MetricMDS, geodesics
from isentropic._core.errors import InvalidInputError
from isentropic.geodesics import boundary_rows


def strip(n=500, seed=0):
    """A strip of 30 x 12 with a hole of 14 x 8, bent into part of a cylinder, and its flat coordinates."""
    P = np.random.default_rng(seed).uniform(size=(3 * n, 2)) * [30, 12]
    P = P[(np.abs(P[:, 0] - 15) > 7) | (np.abs(P[:, 1] - 6) > 4)][:n]
    turn = 1.5 * np.pi / 30
    return np.column_stack([np.cos(P[:, 0] * turn), P[:, 1] * turn, np.sin(P[:, 0] * turn)]) / turn, P


STRIP, PLANTED = strip()


@pytest.fixture(scope="module")
def fitted():
    return TCIE(8).fit(STRIP)


# ---- the boundary ------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_the_boundary_of_a_square_is_its_rim(metric):
    P = np.random.default_rng(0).uniform(size=(600, 2))
    found = boundary_rows(cdist(P, P) if metric == "precomputed" else P, 2, metric=metric)
    to_rim = np.minimum(P, 1 - P).min(axis=1)
    assert (to_rim[found] < 0.05).mean() > 0.7 > 3 * (to_rim < 0.05).mean()
    assert found[to_rim < 0.008].mean() > 0.9
    assert 0.1 < found.mean() < 0.35


def test_a_line_has_two_ends_and_a_ball_a_surface():
    line = np.linspace(0, 1, 60)[:, None] ** 1.2
    assert_array_equal(np.flatnonzero(boundary_rows(line, 1)), [0, 59])
    ball = np.random.default_rng(0).normal(size=(900, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True) / np.random.default_rng(1).uniform(size=(900, 1)) ** (
        1 / 3
    )
    found, radius = boundary_rows(ball, 3), np.linalg.norm(ball, axis=1)
    assert found[radius > 0.97].mean() > 0.9
    assert found[radius < 0.6].mean() < 0.05


def test_a_closed_surface_has_no_boundary():
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert not boundary_rows(ring, 1).any()


def test_equal_rows_are_on_no_side():
    assert not boundary_rows(np.ones((30, 2)), 2).any()


# ---- maps --------------------------------------------------------------------------------------


def test_a_strip_with_a_hole_is_flattened_as_isomap_cannot(fitted):
    bent = procrustes(PLANTED, Isomap(8).fit_transform(STRIP))[2]
    flat = procrustes(PLANTED, fitted.embedding_)[2]
    assert flat < 0.003 < 0.01 < bent
    assert 0.02 < fitted.pair_share_ < 0.15


def test_new_rows_have_their_planted_places():
    X, P = strip(520)
    model = TCIE(8).fit(X[:500])
    every = np.vstack([model.embedding_, model.transform(X[500:])])
    assert procrustes(P, every)[2] < 0.004
    _, moved, _ = procrustes(P, every)
    apart = np.linalg.norm(moved - procrustes(P, P)[0], axis=1)
    assert np.median(apart[500:]) < 2 * np.median(apart[:500]) + 1e-3


def test_without_a_boundary_it_is_metric_mds_of_geodesics():
    X = STRIP[:150]
    model = TCIE(8, boundary=np.zeros(150, bool), tol=1e-9).fit(X)
    mds = MetricMDS(metric=Geodesic(8)).fit(X)
    assert model.pair_share_ == 1.0
    assert model.cost_ == pytest.approx(mds.cost_, rel=1e-5)
    assert np.isfinite(model.transform(X[:3] + 0.01)).all()


def test_the_cost_is_that_of_the_kept_pairs(fitted):
    G = squareform(geodesics.all_pairs(fitted._map.query.graph))
    to_boundary = G[:, fitted.boundary_].min(axis=1)
    kept = G <= (to_boundary[:, None] + to_boundary) * (1 + 1e-9)
    rows = np.repeat(np.arange(len(G)), np.diff(fitted._map.query.graph.indptr))
    kept[rows, fitted._map.query.graph.indices] = True
    kept = squareform(kept & ~np.eye(len(G), dtype=bool))
    given, mapped = squareform(G)[kept], pdist(fitted.embedding_)[kept]
    assert fitted.pair_share_ == pytest.approx(kept.mean(), rel=1e-12)
    assert_allclose(fitted.cost_, ((given - mapped) ** 2).sum() / (given**2).sum(), rtol=1e-9)


def test_a_given_boundary_is_kept(fitted):
    again = TCIE(8, boundary=fitted.boundary_).fit(STRIP)
    assert_array_equal(again.embedding_, fitted.embedding_)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (
            {"boundary": np.zeros(3, bool)},
            "boundary must be None or an array of 500 booleans, one a row, got",
        ),
        ({"boundary": np.zeros(500)}, "boundary must be None or an array of 500 booleans"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"max_iter": -1}, "max_iter must be"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(InvalidInputError) as caught:
        TCIE(**params).fit(STRIP)
    assert str(caught.value).startswith(said)
