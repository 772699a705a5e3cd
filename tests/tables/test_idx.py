"""IDX: images as rows of pixels, labels from a second file."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, InvalidInputError
from isentropic.datasets import load

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 4, 3)).astype(np.uint8)
LABELS = np.array([3, 1, 3, 0, 1], dtype=np.uint8)


def idx(array: np.ndarray, code: int = 0x08) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape) + array.tobytes()


@pytest.mark.parametrize(
    ("images", "labels"),
    [
        ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"),
        ("train-images.idx3-ubyte", "train-labels.idx1-ubyte"),
    ],
)
def test_labels_are_found_next_to_the_images(write, images, labels):
    path = write(images, idx(IMAGES))
    write(labels, idx(LABELS))
    table = load(path)
    assert_array_equal(table.X, IMAGES.reshape(5, 12))
    assert table.scaling == "none"
    assert table.feature_names[:4] == ("pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_1_0")
    assert table.class_names == ("0", "1", "3")
    assert table.labels.tolist() == ["3", "1", "3", "0", "1"]


def test_labels_by_name(write):
    path = write("a.idx", idx(IMAGES))
    other = write("b.idx.gz", idx(LABELS))
    assert load(path).y is None
    assert load(path, "b.idx.gz").class_names == load(path, other).class_names == ("0", "1", "3")
    table = load(path, other)
    assert_array_equal(load(path, preparation=table.preparation).X, table.X)
    assert_array_equal(load(path, other, preparation=table.preparation).y, table.y)


@pytest.mark.parametrize(("dtype", "code"), [("i1", 9), (">i2", 11), (">i4", 12), (">f4", 13), (">f8", 14)])
def test_every_type_of_number(write, dtype, code):
    values = np.array([[-1, 2], [3, 100]])
    assert_array_equal(load(write("a.idx", idx(values.astype(dtype), code)), scaling="none").X, values)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\0\0", "must be an IDX file, which starts with 00 00 and a type, got 00 00"),
        (b"PK\3\4aaaa", "must be an IDX file"),
        (b"\0\0\7\1aaaa", "must be an IDX file"),
        (b"\0\0\x08\3aaaa", "must announce a shape of 1 to 64 axes, got 3 axes in 4 bytes"),
        (idx(IMAGES)[:-1], r"must hold 60 bytes for its shape \(5, 4, 3\), got 59"),
        (idx(IMAGES) + b"x", "must hold 60 bytes .* got more"),
    ],
)
def test_damaged_files(write, data, problem):
    for name in ("a.idx", "a.idx.gz"):
        with pytest.raises(FileFormatError, match=problem):
            load(write(name, data))


def test_a_gz_that_is_cut_off(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(idx(IMAGES))[:-20])
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        load(path)


def test_labels_that_do_not_fit(write):
    path = write("train-images-idx3-ubyte", idx(IMAGES))
    write("train-labels-idx1-ubyte", idx(LABELS[:3]))
    with pytest.raises(InvalidInputError, match=r"one label for each of the 5 rows of .*, got shape \(3,\)"):
        load(path)


def test_labels_alone_are_no_table(write):
    with pytest.raises(InvalidInputError, match="must hold rows and features"):
        load(write("train-labels-idx1-ubyte", idx(LABELS)))


@pytest.mark.data
def test_mnist(data_folder):
    table = load(data_folder / "MNIST" / "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
    assert table.X.shape == (10000, 784)
    assert table.class_names == tuple("0123456789")
    assert table.X.min() == 0
    assert table.X.max() == 255
    assert table.y[:5].tolist() == [7, 2, 1, 0, 4]
