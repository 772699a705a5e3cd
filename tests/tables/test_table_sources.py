"""Sources: what a name means, and the errors for names that mean nothing."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from isentropic._core.errors import FileFormatError, InvalidInputError
from isentropic.datasets import load
from isentropic.tables.readers.table_files import kind_of_file, table_name


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"gone.csv must be a file, got No such file or directory. Check the path"
    ):
        load(tmp_path / "gone.csv")
    with pytest.raises(FileFormatError, match="No such file"):
        load(str(tmp_path / "gone.csv"))


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="must be a file, got a folder"):
        load(tmp_path / "folder.csv")


@pytest.mark.skipif(
    os.name == "nt" or getattr(os, "geteuid", lambda: 1)() == 0, reason="root may read every file"
)
def test_a_file_that_may_not_be_read(write):
    path = write("t.csv", "a\n1\n")
    path.chmod(0)
    with pytest.raises(FileFormatError, match="Permission denied"):
        load(path)


def test_rights_are_told(write, monkeypatch):
    path = write("t.csv", "a\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(
        "isentropic.tables.readers.streams._is_packed", refuse
    )  # where the file would be opened
    with pytest.raises(
        FileFormatError, match=r"must be readable, got Permission denied. Check its permissions"
    ):
        load(path)


def test_an_unknown_suffix(write):
    with pytest.raises(
        InvalidInputError, match=r"ends in one of .csv, .tsv, .txt, .dat, .jsonl.*got 't.xls'.*load the frame"
    ):
        load(write("t.xls", "a"))
    with pytest.raises(InvalidInputError, match=r"got 't.npy.gz'"):
        load(write("t.npy.gz", b"a"))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("bultin:iris", r"must start with builtin: or openml:.*Did you mean 'builtin'\?"),
        ("https://example.org/t.csv", "Download the file first"),
    ],
)
def test_unknown_prefixes(source, problem):
    with pytest.raises(InvalidInputError, match=problem):
        load(source)


def test_a_bare_name_offers_what_is_at_hand():
    with pytest.raises(
        FileFormatError, match=r"got 'iris'. Did you mean 'builtin:iris'.*ISENTROPIC_DATA is not set"
    ):
        load("iris")


@pytest.mark.parametrize("source", [3, None, np.ones((2, 2)), pd.Series([1])])
def test_other_things_are_no_source(source):
    with pytest.raises(InvalidInputError, match=r"source must be text, a path, a frame .*or a sparse matrix"):
        load(source)


@pytest.mark.parametrize(
    ("file", "kind", "name"),
    [
        ("a.csv", ".csv", "a"),
        ("a.b.CSV.GZ", ".csv", "a.b"),
        ("a.arff.gz", ".arff", "a"),
        ("a.npz", ".npz", "a"),
        ("a.jsonl.zst", ".jsonl", "a"),
        ("a.tsv.xz", ".tsv", "a"),
        ("a.xlsx", ".xlsx", "a"),
        ("a.xlsx.gz", None, "a"),
        ("a.xlsx#My prices", ".xlsx", "a My prices"),
        ("a#b.csv", ".csv", "a#b"),
        ("a.FEATHER", ".feather", "a"),
        ("a.npz.gz", None, "a"),
        ("train-images-idx3-ubyte", ".idx", "train-images-idx3-ubyte"),
        ("train-images.idx3-ubyte.gz", ".idx", "train-images.idx3-ubyte"),
        ("README", None, "README"),
        ("midx.txt", ".txt", "midx"),
        ("a.json.gz", ".json", "a"),
        ("a.zip", ".zip", "a"),
        ("a.pdf", None, "a.pdf"),
    ],
)
def test_kinds_and_names_of_files(tmp_path, file, kind, name):
    assert kind_of_file(tmp_path / file) == kind
    assert table_name(tmp_path / file) == name


def test_a_file_beyond_the_memory_budget_is_not_opened(write):
    import isentropic

    path = write("t.csv", "a\n" + "1\n" * 100)
    with (
        isentropic.config_context(memory_limit=50),
        pytest.raises(MemoryError, match=r"reading t.csv needs 202 B"),
    ):
        load(path)
