"""Drawn rows of a source with their places on a map in a folder: both belong together, or it is refused."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic import make, scale
from isentropic._core.errors import FileFormatError
from isentropic.scale.map_samples import sample_map
from isentropic.scale.saved_model import Rows, SavedModel
from isentropic.tables import load


@pytest.fixture
def mapped(model, parts, tmp_path):
    scale.map_rows(model, parts, tmp_path / "map")
    return tmp_path / "map"


def edit(mapped, change):
    path = mapped / "manifest.json"
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_the_rows_and_their_places(model, parts, frame, mapped):
    drawn = sample_map(parts, mapped)
    assert (drawn.method, drawn.n_rows, drawn.preparation) == ("isomap", 1000, None)
    assert_array_equal(drawn.coordinates.to_numpy(), scale.map_batch(model, frame).to_numpy())
    shutil.copy(model, mapped)
    assert sample_map(parts, mapped).preparation is not None


def test_codes_are_read_as_the_model_reads_them(tmp_path):
    """'01' and '1' are two levels, though both are the number 1."""
    codes = ["01", "1", "02", "2"]
    frame = pd.DataFrame({"x": np.arange(40.0), "code": codes * 10})
    table = load(frame, levels=["code"])
    model = tmp_path / "map" / "model.isentropic"
    model.parent.mkdir()
    estimator = make("pca").fit(table.X)
    SavedModel(estimator, "pca", table.preparation, Rows.of(table), None).write(model)
    frame.to_csv(tmp_path / "all.csv", index=False)
    scale.map_rows(model, tmp_path / "all.csv", tmp_path / "map")
    assert sample_map(tmp_path / "all.csv", tmp_path / "map").rows["code"].tolist() == codes * 10
    model.unlink()
    drawn = sample_map(tmp_path / "all.csv", tmp_path / "map", texts=frozenset({"code"}))
    assert drawn.rows["code"].tolist() == codes * 10


def test_files_of_the_same_names_are_told_apart_by_folder_and_content(model, frame, tmp_path):
    for folder, rows in (("a", frame.iloc[:500]), ("b", frame.iloc[500:])):
        (tmp_path / "parts" / folder).mkdir(parents=True)
        rows.to_parquet(tmp_path / "parts" / folder / "x.parquet", index=False)
    scale.map_rows(model, tmp_path / "parts", tmp_path / "map")
    a, b = (tmp_path / "parts" / folder for folder in "ab")
    a.rename(tmp_path / "parts" / "c")
    with pytest.raises(FileFormatError, match=r"got another list in its manifest\. Map the source again"):
        sample_map(tmp_path / "parts", tmp_path / "map")
    b.rename(a)
    (tmp_path / "parts" / "c").rename(b)
    with pytest.raises(FileFormatError, match=r"got one of another x\.parquet\. Map the source again"):
        sample_map(tmp_path / "parts", tmp_path / "map")


def test_another_number_of_rows_is_refused(frame, parts, mapped):
    frame.iloc[:200].to_parquet(parts / "part-0.parquet", index=False)
    with pytest.raises(FileFormatError, match=r"got 300 rows for part-0\.parquet, which has 200\."):
        sample_map(parts, mapped)


def test_a_file_that_failed_is_named(model, parts, tmp_path):
    pd.read_parquet(parts / "part-2.parquet").assign(a=np.nan).to_parquet(parts / "part-2.parquet")
    scale.map_rows(model, parts, tmp_path / "map")
    with pytest.raises(FileFormatError, match=r"none for part-2\.parquet, which could not be mapped"):
        sample_map(parts, tmp_path / "map")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("output", "../part-0.parquet"),
        ("output", "/etc/part-0.parquet"),
        ("output", 3),
        ("name", None),
        ("sha256", ["x"]),
        ("rows", "300"),
        ("rows", -1),
        ("rows", True),
        ("left_out", 0.5),
    ],
)
def test_entries_of_a_manifest_are_checked(parts, mapped, key, value):
    edit(mapped, lambda document: document["files"][0].update({key: value}))
    with pytest.raises(FileFormatError, match=r"manifest\.json must be the manifest of a map"):
        sample_map(parts, mapped)


@pytest.mark.parametrize(
    "change",
    [
        {"files": 5},
        {"files": ["part-0"]},
        {"coordinates": [1, 2]},
        {"coordinates": []},
        {"method": ["pca"]},
        {"model": "m"},
        {"model": {"file": "../m", "sha256": ""}},
    ],
)
def test_a_damaged_manifest_is_one_sentence(parts, mapped, change):
    edit(mapped, lambda document: document.update(change))
    with pytest.raises(FileFormatError, match=r"manifest\.json must be the manifest of a map"):
        sample_map(parts, mapped)


@pytest.mark.parametrize(
    "write",
    [
        lambda frame, path: frame[["row", "isomap0"]].to_parquet(path, index=False),
        lambda frame, path: frame[["isomap0", "isomap1"]].to_parquet(path, index=False),
        lambda frame, path: frame.assign(isomap1="x").to_parquet(path, index=False),
        lambda frame, path: frame.iloc[:, :0].to_parquet(path, index=False),
        lambda frame, path: frame.iloc[:7].to_parquet(path, index=False),
        lambda frame, path: frame.assign(row=3).iloc[:7].to_parquet(path, index=False),
        lambda frame, path: path.write_bytes(b"PAR1"),
        lambda frame, path: path.unlink(),
    ],
)
def test_another_file_of_coordinates_is_one_sentence(parts, mapped, write):
    path = mapped / "part-0.parquet"
    write(pd.read_parquet(path), path)
    with pytest.raises(FileFormatError, match=r"part-0\.parquet must .*Map the source again"):
        sample_map(parts, mapped)


def test_another_folder_is_no_map(parts, tmp_path):
    (tmp_path / "map").mkdir()
    with pytest.raises(FileFormatError, match=r"must be a map in a folder, with its manifest\.json"):
        sample_map(parts, tmp_path / "map")
