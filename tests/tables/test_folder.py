"""The data folder: looked up first, its manifest obeyed."""

from __future__ import annotations

import json

import pytest

from isentropic._core.errors import FileFormatError, TableWarning
from isentropic.datasets import catalogue, load

ENTRY = {
    "name": "flats",
    "openml_name": "flats v2 (id 77)",
    "n_samples": 3,
    "n_features": 2,
    "n_classes": 2,
    "file": "flats.csv",
    "nominal_features": {"zone": ["2", "10", "1"]},
    "variant_of": None,
}
CSV = "zone,word,target\n1,None,10\n2,,9\n10,NA,10\n"


@pytest.fixture
def folder(write, tmp_path, monkeypatch):
    """A folder of the entries given, ``flats`` by itself when none is."""

    def make(*entries, csv=CSV):
        write("flats.csv", csv)
        write("manifest.json", json.dumps(list(entries) or [ENTRY]))
        monkeypatch.setenv("ISENTROPIC_DATA", str(tmp_path))
        return tmp_path

    return make


def test_levels_and_missing_values_are_as_the_manifest_says(folder):
    folder()
    with pytest.warns(TableWarning, match="with missing values left out"):
        table = load("flats", missing="drop", nominal="onehot", scaling="none")
    assert table.feature_names == ("zone=2", "zone=10", "zone=1", "word=NA", "word=None")
    assert table.X.tolist() == [[0, 0, 1, 0, 1], [0, 1, 0, 1, 0]]
    assert table.class_names == ("10",)
    assert load("flats", drop="word").class_names == ("9", "10")


@pytest.mark.parametrize("source", ["flats", "openml:flats", "openml:77", "openml:flats@2"])
def test_it_is_looked_up_first(folder, source, monkeypatch):
    folder()
    monkeypatch.chdir(folder())
    (folder() / "flats").write_text("a file of the same name")
    monkeypatch.setattr("isentropic.tables.table_sources.read_openml", pytest.fail)
    assert load(source, drop="word").name == "flats"


def test_variants_come_after_the_original(folder):
    variant = {**ENTRY, "name": "flats_v3", "openml_name": "apartments v3", "variant_of": "flats"}
    folder(variant, {**ENTRY, "openml_name": "apartments v1"})
    assert load("openml:apartments", drop="word").name == "flats"
    assert load("openml:flats_v3", drop="word").name == "flats_v3"


def test_levels_may_be_those_of_the_data(folder):
    sibling = {**ENTRY, "name": "more", "nominal_features": "see flats"}
    folder({**ENTRY, "nominal_features": {"zone": "see data"}}, sibling)
    for name in ("flats", "more"):
        assert load(name, drop="word").feature_names == ("zone=1", "zone=2", "zone=10")


def test_the_catalogue_lists_what_is_there(folder):
    folder(ENTRY, {**ENTRY, "name": "elsewhere", "file": None})
    entries = [entry for entry in catalogue() if entry.origin == "folder"]
    assert [(e.source, e.n_samples, e.n_features, e.n_classes) for e in entries] == [("flats", 3, 2, 2)]


def test_a_set_without_a_file(folder, monkeypatch):
    folder({**ENTRY, "file": None})
    with pytest.raises(FileFormatError, match="flats must have a file in the data folder, got none"):
        load("flats")
    monkeypatch.setattr("isentropic.tables.table_sources.read_openml", lambda word: pytest.skip(word))
    with pytest.raises(pytest.skip.Exception):  # asked of OpenML instead
        load("openml:flats")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"file": "gone.csv"}, "gone.csv must be a file, got No such file"),
        ({"file": "manifest.json"}, "must be a CSV or TSV file"),
        ({"file": "*.gz"}, "must be IDX files of images"),
        (
            {"nominal_features": {"town": ["a"]}},
            "must have the columns of the manifest, got none called 'town'",
        ),
        ({"nominal_features": {"zone": ["1", "2"]}}, "levels of the manifest in 'zone', got '10'"),
        ({"nominal_features": "see nothing"}, "manifest.json must be a list of sets"),
    ],
)
def test_a_manifest_that_does_not_fit(folder, change, problem):
    folder({**ENTRY, **change})
    with pytest.raises(FileFormatError, match=problem):
        load("flats")


@pytest.mark.parametrize("text", ["{", "{}x", "[1]", '[{"file": "a.csv"}]', '{"name": 1}'])
def test_a_manifest_that_is_none(write, tmp_path, monkeypatch, text):
    write("manifest.json", text)
    monkeypatch.setenv("ISENTROPIC_DATA", str(tmp_path))
    with pytest.raises(FileFormatError, match=r"must be a list of sets.*unset ISENTROPIC_DATA"):
        load("flats")


def test_a_folder_that_is_not_there(tmp_path, monkeypatch, write):
    path = write("t.csv", "a,b\n1,2\n2,5\n")
    monkeypatch.setenv("ISENTROPIC_DATA", str(tmp_path / "gone"))
    with pytest.raises(
        FileFormatError, match=r"ISENTROPIC_DATA must be a folder with a manifest.json.*Correct or unset"
    ):
        load("openml:flats")
    assert load(path).X.shape == (2, 2)  # a file does not need it


def test_a_declared_feature_stays_one(folder):
    """What the manifest calls a feature is one, even where it counts the rows."""
    rows = "".join(f"{i},{i * 7 % 13},{'ab'[i % 2]}\n" for i in range(20))
    entry = {**ENTRY, "n_samples": 20, "nominal_features": {}}
    folder(entry, csv="nr,x,target\n" + rows)
    with pytest.warns(TableWarning, match=r"count as features, as flats declares them: 'nr'\. Leave"):
        assert load("flats").X.shape == (20, 2)


# ---- the folder of the published experiments ---------------------------------------------------


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.TableWarning")
def test_every_table_of_the_folder(data_folder):
    manifest = json.loads((data_folder / "manifest.json").read_text(encoding="utf-8"))
    tables = [entry for entry in manifest if "csv" in str(entry["file"])]
    assert len(tables) >= 90
    for entry in tables:
        is_wide = entry["name"] == "Diabetes130US"  # 2 300 levels in 100 000 rows
        table = load(entry["name"], missing="mean", nominal="coded" if is_wide else "onehot")
        n_columns = len(table.preparation.columns)
        assert (len(table.X), n_columns) == (entry["n_samples"], entry["n_features"]), entry["name"]
        assert set(table.class_names) == set(entry["class_counts"]), entry["name"]
        counts = {table.class_names[code]: n for code, n in enumerate(_bincount(table.y))}
        assert counts == entry["class_counts"], entry["name"]


def _bincount(codes):
    import numpy as np

    return np.bincount(codes).tolist()


@pytest.mark.data
def test_missing_values_of_the_folder_are_counted(data_folder):
    from isentropic._core.errors import InvalidInputError

    with pytest.raises(InvalidInputError, match="got 8 missing values: 'Age' 8"):
        load("dermatology")


@pytest.mark.data
def test_mnist_by_name(data_folder):
    table = load("openml:mnist_784")
    assert table.X.shape == (70000, 784)
    assert table.y[:5].tolist() == [5, 0, 4, 1, 9]  # the training part comes first


@pytest.mark.parametrize(
    ("file", "said"),
    [(5, "must be a list of sets"), ("/tmp/*", "a pattern of files"), ("**a/*", "a pattern of files")],
)
def test_files_of_a_manifest_that_are_none(tmp_path, monkeypatch, file, said):
    entry = {"name": "odd", "file": file, "n_samples": 1, "n_features": 1, "n_classes": 2}
    (tmp_path / "manifest.json").write_text(json.dumps([entry]))
    monkeypatch.setenv("ISENTROPIC_DATA", str(tmp_path))
    with pytest.raises(FileFormatError, match=said):
        load("odd")
