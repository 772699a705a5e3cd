"""map_batch: a pure function whose result for a row does not depend on the batch."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal

import isentropic
from isentropic import PCA, scale
from isentropic._core.errors import FileFormatError, InvalidInputError
from isentropic.tables import load
from many_files import save_model


def test_it_is_transform_of_the_prepared_table(frame, model):
    found = scale.map_batch(model, frame)
    fitted = load(frame.iloc[::4])
    table = load(frame, preparation=fitted.preparation)
    assert_array_equal(found.to_numpy(), isentropic.load(model).transform(table.X))
    assert list(found.columns) == ["isomap0", "isomap1"]


@pytest.mark.parametrize("sizes", [[1, 1, 998], [500, 0, 500], [333, 333, 334]])
def test_no_batch_changes_a_bit(frame, model, sizes):
    bounds = np.cumsum([0, *sizes])
    batches = [frame.iloc[a:b] for a, b in itertools.pairwise(bounds)]
    found = pd.concat([scale.map_batch(model, batch[::-1]) for batch in batches]).sort_index()
    assert_frame_equal(found, scale.map_batch(model, frame[["kind", "c", "a", "d", "b"]], n_jobs=2))


def test_no_rows_have_no_coordinates(frame, model):
    found = scale.map_batch(model, frame.iloc[:0])
    assert found.shape == (0, 2)
    assert list(found.columns) == ["isomap0", "isomap1"]
    pca = PCA(3).fit(frame[["a", "b", "c"]].to_numpy())
    assert scale.map_batch(pca, np.empty((0, 3))).shape == (0, 3)


def test_rows_that_are_left_out_are_not_in_the_index(frame, model):
    holes = frame.iloc[:6].copy()
    holes.loc[[1, 4], "b"] = np.nan
    with pytest.raises(InvalidInputError, match="must be complete, got 2 missing values"):
        scale.map_batch(model, holes)
    with pytest.warns(match="2 rows of 6 with missing values left out"):
        found = scale.map_batch(model, holes, missing="drop")
    assert found.index.tolist() == [0, 2, 3, 5]
    assert_frame_equal(found, scale.map_batch(model, frame.iloc[[0, 2, 3, 5]]))


def test_a_batch_of_which_no_row_is_left(frame, model):
    holes = frame.iloc[3:5].copy()
    holes["b"] = [np.nan, 1.0]
    holes["kind"] = ["u", None]
    with pytest.warns(match="2 rows of 2 with missing values left out"):
        found = scale.map_batch(model, holes, missing="drop")
    assert found.shape == (0, 2)
    assert found.index.dtype == holes.index.dtype
    with pytest.raises(InvalidInputError, match="must be complete"):
        scale.map_batch(model, holes)
    with pytest.raises(InvalidInputError, match="'b'"):  # what is wrong is another thing
        scale.map_batch(model, holes.drop(columns="b"), missing="drop")


def test_an_estimator_without_preparation(frame):
    X = frame[["a", "b", "c", "d"]]
    pca = PCA().fit(X)
    found = scale.map_batch(pca, X[["d", "a", "c", "b"]].iloc[5:9])
    assert found.index.tolist() == [5, 6, 7, 8]
    assert_array_equal(found.to_numpy(), pca.transform(X)[5:9])


def test_a_model_that_changed_is_refused(frame, model, tmp_path):
    path = tmp_path / "model.isentropic"
    shutil.copy(model, path)
    known = scale.ModelFile.of(path)
    save_model(frame.iloc[::3], path)
    with pytest.raises(FileFormatError, match="must be the model that the work began with"):
        scale.map_batch(known, frame.iloc[:2])
    with pytest.raises(FileFormatError, match="cannot be read"):
        scale.map_batch(tmp_path / "none.isentropic", frame.iloc[:2])
