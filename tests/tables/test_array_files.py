"""NPY and NPZ: arrays of numbers; objects are never unpickled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, InvalidInputError, TableWarning
from isentropic.datasets import load

X = np.random.default_rng(0).normal(size=(6, 2))
Y = np.array(["b", "a", "b", "a", "b", "a"])


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("an object was unpickled",))


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


def test_npy(rows):
    table = load(rows, scaling="none")
    assert_array_equal(table.X, X)
    assert table.feature_names == ("x0", "x1")
    assert table.y is None
    assert table.name == "rows"


def test_npy_with_a_column_or_a_file_as_target(rows, tmp_path):
    assert_array_equal(load(rows, "x1").y, X[:, 1])
    np.save(tmp_path / "labels.npy", Y)
    for target in ("labels.npy", tmp_path / "labels.npy"):  # next to the rows, or by its path
        assert load(rows, target).labels.tolist() == Y.tolist()


def test_big_endian_and_images_and_fields(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(24, dtype=">i4").reshape(3, 2, 4))
    table = load(tmp_path / "a.npy", scaling="none")
    assert table.X.shape == (3, 8)
    assert table.feature_names[:5] == ("x0_0", "x0_1", "x0_2", "x0_3", "x1_0")
    np.save(tmp_path / "b.npy", np.array([(1, 2.5), (3, 4.5)], dtype=[("u", int), ("v", float)]))
    assert load(tmp_path / "b.npy", "v").feature_names == ("u",)
    np.savez(tmp_path / "b.npz", X=np.load(tmp_path / "b.npy"), y=Y[:2])
    assert load(tmp_path / "b.npz").labels.tolist() == ["b", "a"]


def test_nan_in_an_array_is_named(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]]))
    with pytest.raises(InvalidInputError, match="3 missing values: 'x1' 2, 'x0' 1"):
        load(tmp_path / "a.npy")


def test_objects_are_never_unpickled(tmp_path):
    bombs = np.array([[Bomb(), 1]], dtype=object)
    np.save(tmp_path / "a.npy", bombs, allow_pickle=True)
    np.savez(tmp_path / "a.npz", X=bombs)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(FileFormatError, match=r"got pickled objects.*never loaded"):
            load(tmp_path / name)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileFormatError, match="must be an NPY file"):
        load(tmp_path / "b.npy")


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.arange(3), r"must hold rows and features, got an array of shape \(3,\)"),
        (np.array([["a", "b"]]), "must hold numbers, got dtype <U1"),
        (np.array([[1j]]), "must hold numbers, got dtype complex128"),
        (np.empty((0, 3)), "at least one row"),
        (np.empty((3, 0)), "column left for the features"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, problem):
    np.savez(tmp_path / "a.npz", X=array)
    np.save(tmp_path / "a.npy", array)
    for name in ("a.npz", "a.npy"):
        with pytest.raises(InvalidInputError, match=problem):
            load(tmp_path / name)


def test_files_that_are_cut_off(tmp_path, rows):
    whole = rows.read_bytes()
    rows.write_bytes(whole[:-8])
    with pytest.raises(FileFormatError, match=r"must hold 96 bytes.*got 88. Write or download it again"):
        load(rows)
    np.savez(tmp_path / "a.npz", X=X)
    (tmp_path / "b.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-40])
    with pytest.raises(FileFormatError, match="must be a NumPy file"):
        load(tmp_path / "b.npz")


def test_a_head_that_promises_too_much(rows):
    rows.write_bytes(rows.read_bytes().replace(b"(6, 2)", b"(9999999999, 2)"))
    with pytest.raises(FileFormatError, match="must hold 159999999984 bytes"):
        load(rows)


def test_npz_keys(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, rows=X)
    assert load(path).X.shape == (6, 2)
    np.savez(path, X=X, y=Y)
    assert load(path).class_names == ("a", "b")
    np.savez(path, X=X, y=Y, groups=Y)
    with pytest.warns(TableWarning, match="arrays that are not used: 'y'"):
        assert load(path, "groups").class_names == ("a", "b")
    with pytest.warns(TableWarning, match="not used: 'y', 'groups'"):
        assert load(path, "x0").feature_names == ("x1",)
    with pytest.raises(
        InvalidInputError, match=r"target must be a column of .*got 'group'. Did you mean 'groups'\?"
    ):
        load(path, "group")
    np.savez(path, x_train=X, x_test=X)
    with pytest.raises(InvalidInputError, match="one array, or one called 'X', got 'x_train', 'x_test'"):
        load(path)


def test_labels_must_fit(rows, tmp_path):
    np.save(tmp_path / "labels.npy", Y[:4])
    with pytest.raises(
        InvalidInputError, match=r"one label for each of the 6 rows of rows.npy, got shape \(4,\)"
    ):
        load(rows, "labels.npy")
    with pytest.raises(InvalidInputError, match=r"got 'nowhere.npy', which is no file"):
        load(rows, "nowhere.npy")
