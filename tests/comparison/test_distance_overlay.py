"""Distances in the data for the overlay of the page: all pairs, or through landmarks, quantized to bytes."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from isentropic._core.values import Table
from isentropic.comparison import page_data
from isentropic.comparison.page_data import STEPS, _distance_overlay, distance_overlay, landmark_count


def table(n, m=5):
    X = np.random.default_rng(0).normal(size=(n, m)) * 3.0
    names = tuple(map(str, range(n)))
    return Table(X, np.arange(n) % 3, ("x",) * m, names, ("a", "b", "c"), "made", "none")


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_all_pairs_are_half_a_step_from_the_truth(metric):
    X = table(70).X
    found = distance_overlay(X, np.arange(5), metric)
    truth = pdist(X, metric)
    assert found.landmarks is None
    assert found.top == pytest.approx(truth.max())
    assert found.error == found.top / (2 * STEPS)
    assert np.abs(found.codes * (found.top / STEPS) - truth).max() <= found.error * (1 + 1e-9)
    assert found.codes.max() == STEPS  # 255 stands for "not known"


def test_landmarks_give_bounds_that_hold(monkeypatch):
    monkeypatch.setattr(page_data, "EXACT_ROWS", 50)
    given = table(200)
    found = _distance_overlay(given, np.arange(200))
    assert found.codes.shape == (len(found.landmarks), 200)
    unit, D = found.top / STEPS, cdist(given.X, given.X)
    codes = found.codes.astype(float)
    low = np.abs(codes[:, :, None] - codes[:, None, :]).max(axis=0) * unit
    high = (codes[:, :, None] + codes[:, None, :]).min(axis=0) * unit
    assert (low <= D + unit).all()
    assert (high >= D - unit).all()


def test_landmarks_are_among_the_drawn_rows_and_no_more_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(page_data, "EXACT_ROWS", 10)
    given = table(400)
    from isentropic.comparison.page_data import sampled_rows

    rows = sampled_rows(given, 300)
    found = _distance_overlay(given, rows)
    assert len(found.landmarks) == min(landmark_count(300), 300) == 256
    assert set(rows[found.landmarks]) <= set(rows)
    np.testing.assert_allclose(
        found.codes * (found.top / STEPS),
        cdist(given.X[rows[found.landmarks]], given.X[rows]),
        atol=found.error * (1 + 1e-9),
    )
    assert landmark_count(50_000) * 50_000 <= 2_600_000


def test_equal_rows_have_no_distance():
    found = distance_overlay(np.ones((4, 2)), np.arange(2))
    assert found.top == 0.0
    assert not found.codes.any()
