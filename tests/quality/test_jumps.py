"""Does the map jump between neighbours? Planted tears are flagged, smooth maps are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from isentropic import make
from isentropic._core.errors import InvalidInputError
from isentropic.neighbors import nearest_among
from isentropic.quality import map_agreement, map_jumps, shared_neighbors
from isentropic.quality.row_measures import JUMP
from naive_trust import naive_jumps, naive_shared


def sheet(n=300, seed=0):
    """A square, a little thick."""
    rng = np.random.default_rng(seed)
    return np.column_stack([4 * rng.random((n, 2)), 0.05 * rng.normal(size=n)])


def tube(n=300, seed=0):
    """A closed band, which no drawing in the plane keeps whole and undistorted."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(turn), np.sin(turn), 1.5 * rng.random(n)])


def unrolled(X):
    """The tube, cut along one line and laid flat."""
    return np.column_stack([np.arctan2(X[:, 1], X[:, 0]), X[:, 2]])


def gaps(X, Z, k=10):
    """How far apart on the map the farthest of the k nearest rows in the data lies, in widths of the map."""
    near = nearest_among(X, X, k, selves=np.arange(len(X)))[0]
    return np.linalg.norm(Z[near] - Z[:, None], axis=2).max(axis=1) / np.ptp(Z, axis=0).max()


def test_the_cut_of_a_tube_is_flagged_and_nothing_else():
    X = tube()
    found = map_jumps(unrolled, X, unrolled(X), sample=None)
    flagged = np.isin(np.arange(len(X)), found.torn)
    at_the_cut = gaps(X, unrolled(X)) > 0.5
    assert at_the_cut.sum() > 20
    np.testing.assert_array_equal(flagged, at_the_cut)


@pytest.mark.parametrize("name", ["t-sne", "cda"])
def test_methods_that_tear_a_tube_are_caught_at_the_tear(name):
    X = tube()
    model = make(name, random_state=0)
    Z = model.fit_transform(X)
    found = map_jumps(model.transform, X, Z, sample=None)
    torn = gaps(X, Z) > 0.4
    assert torn.sum() > 5
    assert np.isin(np.flatnonzero(torn), found.torn).mean() >= 0.9
    assert np.isin(np.flatnonzero(gaps(X, Z) < 0.15), found.torn).mean() <= 0.01


@pytest.mark.parametrize("name", ["pca", "isomap", "t-sne", "cda"])
def test_a_sheet_is_drawn_without_a_jump(name):
    X = sheet(200)
    model = make(name).fit(X)
    assert len(map_jumps(model.transform, X, model.embedding_, sample=None).torn) == 0


def test_a_map_that_stretches_does_not_jump():
    """The same distances as at a tear, but on the way from one row to the other every place is taken."""
    X = np.sort(np.random.default_rng(0).random((200, 1)), axis=0)

    def steep(rows):
        return np.column_stack([rows[:, 0] + 6.0 * np.clip(rows[:, 0] - 0.45, 0, 0.1), np.zeros(len(rows))])

    def torn(rows):
        return np.column_stack([rows[:, 0] + 0.6 * (rows[:, 0] > 0.5), np.zeros(len(rows))])

    assert len(map_jumps(steep, X, steep(X)).torn) == 0
    assert len(map_jumps(torn, X, torn(X)).torn) >= 10


def test_the_jumps_are_those_of_the_plain_twin():
    X = tube(120)
    found = map_jumps(unrolled, X, unrolled(X), n_neighbors=7, n_steps=5, sample=40, random_state=3)
    assert len(found.rows) == 40
    plain = naive_jumps(unrolled, X, unrolled(X), found.rows, 7, 5)
    np.testing.assert_allclose(found.jumps, plain, rtol=1e-9)


def test_scale_threads_and_one_place():
    X = tube(100)
    found = map_jumps(unrolled, X, unrolled(X))
    moved = map_jumps(lambda rows: 8 * unrolled(rows), X, 8 * unrolled(X), n_jobs=1)
    np.testing.assert_array_equal(found.jumps, moved.jumps)
    flat = map_jumps(lambda rows: np.zeros((len(rows), 2)), X, np.zeros((100, 2)))
    assert (flat.jumps == 0).all()


def test_bad_input_says_what_to_give():
    X = tube(50)
    with pytest.raises(InvalidInputError, match="Z must be a map of the same 50 rows"):
        map_jumps(unrolled, X, X[:9])
    for place in (lambda rows: rows, lambda rows: rows[:1, :2], lambda rows: 1.0, lambda rows: rows[:, 0]):
        with pytest.raises(InvalidInputError, match="place must be a function that gives 2 coordinates of"):
            map_jumps(place, X, unrolled(X))
    with pytest.raises(InvalidInputError, match="gives finite coordinates, got '300 that are not'"):
        map_jumps(lambda rows: np.full((len(rows), 2), np.nan), X, unrolled(X))
    with pytest.raises(InvalidInputError, match="place must be a function from rows to places"):
        map_jumps(None, X, unrolled(X))
    with pytest.raises(InvalidInputError, match="Z must be finite everywhere"):
        map_jumps(unrolled, X, np.nan * unrolled(X))


@pytest.mark.parametrize(("of_data", "of_map"), [(900, 0), (-900, 0), (0, 900), (700, -700), (-1000, -1000)])
def test_jumps_have_no_unit(of_data, of_map):
    X, offset = tube(60), np.array([5.0, -5.0])
    Z = unrolled(X) + offset
    expected = map_jumps(lambda rows: unrolled(rows) + offset, X, Z)

    def place(rows):
        return np.ldexp(unrolled(np.ldexp(rows, -of_data)) + offset, of_map)

    found = map_jumps(place, np.ldexp(X, of_data), np.ldexp(Z, of_map))
    assert_allclose(found.jumps, expected.jumps, rtol=1e-9)


# ---- what all maps show ------------------------------------------------------------------------


def test_shared_neighbours_are_those_of_the_plain_twin():
    X = sheet(80)
    maps = [X[:, :2], X[:, :2] + 0.1 * X[::-1, :2], np.sin(X[:, :2])]
    found = shared_neighbors(maps, 6)
    shares, pairs = naive_shared(maps, 6)
    np.testing.assert_allclose(found.shares, shares)
    assert found.pairs.tolist() == pairs
    assert 0.05 < shares.mean() < 0.95
    np.testing.assert_allclose(
        shared_neighbors(maps[:2], 6).shares, map_agreement(*maps[:2], n_neighbors=6).shares
    )
    np.testing.assert_array_equal(shared_neighbors(maps[:1], 6).shares, 1.0)


def test_shared_neighbours_refuse_maps_of_other_rows():
    with pytest.raises(InvalidInputError, match="maps must be of the same rows"):
        shared_neighbors([np.eye(5), np.eye(6)], 2)
    with pytest.raises(InvalidInputError, match="map 1 of maps must be finite everywhere"):
        shared_neighbors([np.eye(5), np.full((5, 2), np.nan)], 2)
    with pytest.raises(InvalidInputError, match="map 0 of maps must be a table of at least 2 rows, got 1"):
        shared_neighbors([np.eye(1)], 1)
    with pytest.raises(InvalidInputError, match="maps must be at least one"):
        shared_neighbors([], 2)


# ---- shapes that did not choose the threshold --------------------------------------------------


@pytest.fixture
def held_out(monkeypatch):
    root = Path(__file__).parents[3]
    if not (root / "benchmarks").is_dir():
        pytest.skip("benchmarks are not packaged")
    monkeypatch.syspath_prepend(str(root))
    from benchmarks import jumps

    return jumps


def test_cuts_of_other_shapes_are_found_and_smooth_maps_are_not_flagged(held_out):
    for name in held_out.DRAWN:
        lines = held_out.drawn_lines(name, 250, 0.03, 77)
        torn, flagged = lines.gap == 1, lines.jump > JUMP
        assert flagged[torn].mean() >= 0.95 if torn.any() else name.startswith(("plane", "S-curve"))
        assert flagged[~torn].mean() <= 0.03, name


def test_the_guide_says_what_was_measured_of_jumps(held_out):
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    lines = pd.read_csv(held_out.DATA)
    assert held_out.summary(lines) in guide
    fitted = lines[lines.kind == "fitted"]
    torn, whole = fitted[fitted.gap >= held_out.TORN], fitted[fitted.gap <= held_out.WHOLE]
    assert (torn.jump > JUMP).mean() > 0.9
    assert (whole.jump > JUMP).mean() < 0.02
