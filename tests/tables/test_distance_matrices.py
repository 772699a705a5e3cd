"""Distance matrices are recognised, with a notice, and read as such; other squares are features."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isentropic import ClassicalMDS, InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.tables.prepare.column_scaling import shares_by_column
from isentropic.tables.prepare.distance_matrix import distance_matrix

RNG = np.random.default_rng(4)
PLACES = RNG.normal(size=(12, 2))
D = cdist(PLACES, PLACES)
NAMES = [f"town {chr(65 + i)}" for i in range(12)]
SQUARE = pd.DataFrame(D, columns=NAMES)


@pytest.mark.parametrize(
    "frame",
    [
        SQUARE.assign(town=NAMES),
        pd.DataFrame({"Unnamed: 0": NAMES}).join(SQUARE),
        SQUARE.set_axis(NAMES),
        SQUARE,
        pd.DataFrame(D),
        pd.DataFrame(D).rename(columns=str).reset_index(),
        SQUARE.round(3),
        SQUARE.where(np.tril(np.ones((12, 12), bool))),
        SQUARE.where(np.triu(np.ones((12, 12), bool), 1)),
    ],
    ids=["last", "first", "index", "header", "no names", "numbers", "rounded", "lower triangle", "upper"],
)
def test_distances_are_recognised(frame, tmp_path):
    with pytest.warns(TableWarning, match=r"a square of 12 x 12 numbers.*metric='euclidean' reads features"):
        table = load(frame, metric="auto")
    assert (table.metric, table.scaling) == ("precomputed", "none")
    assert_allclose(table.X, D, atol=1e-3)
    assert_array_equal(table.X, table.X.T)
    named = "town A" in map(str, frame.columns) and not (list(frame.columns) == NAMES and frame.index[0] == 0)
    assert table.row_names == (tuple(NAMES) if named else tuple(map(str, range(12))))
    assert shares_by_column(table) == {}


@pytest.mark.parametrize(
    "frame",
    [
        SQUARE.iloc[:-1],
        SQUARE + np.triu(np.ones((12, 12))),
        SQUARE + np.eye(12),
        -SQUARE,
        SQUARE.assign(town=NAMES[::-1]),
        pd.DataFrame((D < np.quantile(D, 0.3)) & (D > 0), dtype=float),
        pd.DataFrame(np.corrcoef(RNG.normal(size=(12, 30)))),
        pd.DataFrame(np.zeros((12, 12))),
        SQUARE.iloc[:3, :3],
    ],
    ids=[
        "not square",
        "asymmetric",
        "diagonal",
        "negative",
        "names",
        "graph",
        "correlations",
        "zeros",
        "few",
    ],
)
def test_other_squares_are_not(frame):
    assert distance_matrix(frame) is None


def test_features_are_read_where_it_is_said():
    with pytest.warns(TableWarning, match="is read as features. metric='precomputed' reads the distances"):
        assert load(SQUARE).metric == "euclidean"


def test_a_target_stays_beside_the_distances():
    frame = SQUARE.assign(town=NAMES, side=["north", "south"] * 6)
    table = load(frame, "side", metric="precomputed")
    assert (table.class_names, table.preparation.index) == (("north", "south"), "town")
    assert_array_equal(table.y, [0, 1] * 6)
    assert table.X.shape == (12, 12)


def test_new_rows_are_their_distances_to_the_fitted_ones():
    table = load(SQUARE.assign(town=NAMES), metric="precomputed")
    prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
    new = pd.DataFrame(cdist(PLACES[:2] + 0.1, PLACES), columns=NAMES).assign(town=["x", "y"])
    placed = load(new, preparation=prepared)
    assert (placed.metric, placed.row_names) == ("precomputed", ("x", "y"))
    model = ClassicalMDS(metric="precomputed").fit(table.X)
    assert model.transform(placed.X).shape == (2, 2)


def test_what_is_no_distance_matrix_is_refused():
    for frame in (SQUARE.iloc[:5], SQUARE - 1.0, SQUARE.assign(more="x")):
        with pytest.raises(InvalidInputError, match=r"a square of distances for metric='precomputed'.*drop="):
            load(frame, metric="precomputed")
