"""Distances that a caller answers for, seeds that are left out, and texts that are no result."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from scipy.stats import kendalltau

from isentropic import quality
from isentropic._core.errors import FileFormatError, InvalidInputError
from isentropic._core.values import DistanceRows
from isentropic.quality import (
    Measure,
    Quality,
    assess,
    distance_rows,
    kendall_tau,
    kruskal_stress,
    shepard_pairs,
)
from isentropic.quality.pairwise import pair_measures


@pytest.fixture(scope="module")
def tables():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return X, X[:, :2]


@pytest.fixture(scope="module")
def distances(tables):
    return distance_rows(tables[0]).rows(np.arange(30))


def given(D):
    return DistanceRows(30, lambda rows: D[rows], "my own", lambda i, j: D[i, j])


@pytest.mark.parametrize("name", ["trustworthiness", "kendall_tau", "pearson_r", "kruskal_stress"])
@pytest.mark.parametrize("wrong", [np.inf, -1.0, np.nan])
def test_given_distances_that_are_none_are_refused_by_every_measure(name, wrong, tables, distances):
    D = distances.copy()
    D[3, 4] = D[4, 3] = wrong
    with pytest.raises(InvalidInputError, match="distances by my own must be finite"):
        getattr(quality, name)(given(D), tables[1])


@pytest.mark.parametrize("name", ["trustworthiness", "kendall_tau", "kruskal_stress"])
def test_given_rows_that_are_too_short_are_refused(name, tables, distances):
    with pytest.raises(InvalidInputError, match="shape"):
        getattr(quality, name)(given(np.ascontiguousarray(distances[:, :20])), tables[1])


@pytest.mark.parametrize("n_pairs", [None, 5_000])
def test_negative_zeros_count_as_zeros(n_pairs, tables, distances):
    D = distances.copy()
    D[3, 4] = D[4, 3] = -0.0
    upper = np.triu_indices(30, 1)
    mapped = distance_rows(tables[1]).rows(np.arange(30))
    truth = kendalltau(np.abs(D)[upper], mapped[upper])[0]
    options = {"n_pairs": n_pairs, "random_state": 0}
    for form, metric in (
        (D, "precomputed"),
        (squareform(D, checks=False), "precomputed"),
        (given(D), "euclidean"),
    ):
        found = kendall_tau(form, tables[1], metric=metric, **options).value
        assert found == pytest.approx(truth, abs=1e-12 if n_pairs is None else 0.05)


def test_the_best_scale_is_found_for_a_tiny_map(tables):
    X, Z = tables
    expected = kruskal_stress(X, Z, kind="scaled")
    assert kruskal_stress(1e-100 * X, 1e-150 * Z, kind="scaled") == pytest.approx(expected, rel=1e-6)


def test_no_seed_is_a_fixed_seed(tables):
    X, Z = tables
    assert kendall_tau(X, Z, n_pairs=2_000).value == kendall_tau(X, Z, n_pairs=2_000).value
    stresses = {quality.neighborhood_stress(X, Z, 3, n_random=3) for _ in range(2)}
    assert len(stresses) == 1


def test_a_shepard_diagram_has_the_pairs_asked_for(tables):
    X, Z = tables
    assert shepard_pairs(X, Z, n_pairs=10).given.shape == (10,)
    for wrong in (None, "auto", 0):
        with pytest.raises(InvalidInputError, match="n_pairs"):
            shepard_pairs(X, Z, n_pairs=wrong)


@pytest.mark.parametrize("shorten", [lambda text: text[:-9], lambda text: text.replace('"ties"', '"tries"')])
def test_text_that_is_not_whole_is_a_format_error(shorten, tables):
    text = assess(*tables, measures="ranks").to_json()
    assert Quality.from_json(text).to_json() == text
    with pytest.raises(FileFormatError, match=r"isentropic\.quality/1"):
        Quality.from_json(shorten(text))


def test_an_interval_without_an_end_survives_json(tables):
    X = np.zeros((30, 2))
    X[0] = 1.0
    (stress,) = pair_measures(
        ["normalized_stress"], distance_rows(X), distance_rows(tables[1]), n_pairs=640, random_state=0
    ).values()
    assert (stress.low, stress.high) == (0.0, np.inf)  # some batch has pairs of equal rows only
    assert Measure.from_dict(json.loads(json.dumps(stress.to_dict(), allow_nan=False))) == stress
    exact = Measure(0.5, range=(0.0, 1.0))
    assert Measure.from_dict(exact.to_dict()) == exact
