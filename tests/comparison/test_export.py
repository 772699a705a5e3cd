"""Maps as one table and as files: every coordinate, every score, of every row."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from isentropic import datasets
from isentropic._core.values import Table
from isentropic.comparison import Run, data_map, maps_frame, save_maps
from isentropic.comparison.evaluation.row_diagnostics import RowDiagnostics
from isentropic.comparison.export import row_scores
from isentropic.quality import assess

NAMES = ("row é", "b", "c")


def table(n=40, classes=True):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    y = np.arange(n) % 2 if classes else None
    names = tuple(f"row {i}" for i in range(n))
    return Table(X, y, ("a", "b", "c"), names, ("left", "right") if classes else (), "made", "none")


def runs_of(given, sample=None):
    X = given.X
    options = {} if sample is None else {"sample": sample, "measures": "ranks", "random_state": 0}
    maps = [X[:, :2], X[:, 1:], X[:, :1]]
    made = [
        Run(name, {}, None, 0.1, None, Z.copy(), assess(X, Z, **options), false_share=None)
        for name, Z in zip(("first", "second", "line"), maps, strict=True)
    ]
    return [Run("broken", {}, None, 0.1, None, reason="it is singular"), *made]


def test_the_recommended_map_comes_first_and_every_number_is_there():
    given = table()
    runs = runs_of(given)
    from isentropic.comparison import verdict

    frame = maps_frame(given, runs)
    first = runs[verdict(runs).shown].method
    assert list(frame.columns[:4]) == ["row", "target", f"{first}_0", f"{first}_1"]
    assert frame["row"].tolist() == list(given.row_names)
    assert frame["target"].tolist() == ["left", "right"] * 20
    for run in runs[1:]:
        columns = [f"{run.method}_{d}" for d in range(run.embedding.shape[1])]
        np.testing.assert_array_equal(frame[columns].to_numpy(), run.embedding)
        np.testing.assert_array_equal(frame[f"{run.method}_tears"], run.quality.tears[:, 0])
    assert not any(column.startswith("broken") for column in frame.columns)


def test_rows_that_were_not_scored_have_no_score():
    given = table(60)
    run = runs_of(given, sample=20)[1]
    scores = row_scores(run)["false_neighbors"]
    assert set(np.flatnonzero(np.isfinite(scores))) == set(run.quality.rows.tolist())
    np.testing.assert_array_equal(scores[run.quality.rows], run.quality.false_neighbors[:, 0])


def test_whatever_a_run_holds_of_each_row_is_a_score():
    """Of all rows or of the scored ones, in a value of its own or not; nothing else."""

    @dataclass(frozen=True)
    class Trust:
        p_values: np.ndarray
        curve: np.ndarray

    @dataclass(frozen=True)
    class LaterRun(Run):
        trust: Trust | None = None
        group: np.ndarray | None = None

    given = table(60)
    plain = runs_of(given, sample=20)[1]
    fields = {name: getattr(plain, name) for name in Run.__dataclass_fields__}
    trust = Trust(np.linspace(0, 1, 60), np.zeros(7))
    run = LaterRun(**{**fields, "false_share": np.full(20, 0.5)}, trust=trust, group=np.arange(60) % 3)
    found = row_scores(run)
    assert set(found) == {"false_neighbors", "tears", "near_neighbors", "false_share", "p_values", "group"}
    np.testing.assert_array_equal(found["p_values"], trust.p_values)
    np.testing.assert_array_equal(found["group"], run.group)
    assert np.nansum(found["false_share"]) == 10.0


@pytest.mark.parametrize("n_walked", [7, 20, 60])
def test_jumps_stand_at_the_rows_that_were_walked(n_walked):
    """Also where as many rows were walked as were scored, but others."""
    given = table(60)
    plain = runs_of(given, sample=20)[1]
    walked = np.sort(np.random.default_rng(1).choice(60, n_walked, replace=False))
    trust = RowDiagnostics(np.linspace(0, 1, 20), 0.1, walked, 100.0 + walked)
    found = row_scores(replace(plain, row_diagnostics=trust))
    assert set(found) == {"false_neighbors", "tears", "near_neighbors", "p", "jumps"}
    assert np.flatnonzero(np.isfinite(found["jumps"])).tolist() == walked.tolist()
    np.testing.assert_array_equal(found["jumps"][walked], 100.0 + walked)
    np.testing.assert_array_equal(found["p"][plain.quality.rows], trust.p)


def test_two_runs_of_a_method_keep_apart():
    given = table()
    one = runs_of(given)[1]
    runs = [replace(one, params={"n_neighbors": k}) for k in (5, 9)]
    frame = maps_frame(given, runs)
    assert {"first (n_neighbors=5)_0", "first (n_neighbors=9)_0"} <= set(frame.columns)
    assert frame.columns.is_unique


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather"])
def test_a_file_holds_every_bit_of_the_frame(suffix, tmp_path):
    given = table()
    runs = runs_of(given)
    path = tmp_path / f"maps{suffix}"
    save_maps(path, given, runs)
    read = {".parquet": pd.read_parquet, ".feather": pd.read_feather}.get(
        suffix, lambda path: pd.read_csv(path, sep="\t" if suffix == ".tsv" else ",")
    )  # fmt: skip
    pd.testing.assert_frame_equal(read(path), maps_frame(given, runs), check_dtype=False, check_exact=True)


def test_other_suffixes_and_runs_without_a_map_are_refused(tmp_path):
    given = table()
    with pytest.raises(ValueError, match=r"path must be a file ending in .*\.h5ad"):
        save_maps(tmp_path / "maps.xls", given, runs_of(given))
    with pytest.raises(ValueError, match="runs must be at least one with a map"):
        save_maps(tmp_path / "maps.csv", given, runs_of(given)[:1])
    assert list(tmp_path.iterdir()) == []


def test_an_h5ad_file_has_the_layout_of_anndata(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install 'isentropic[h5ad]'")
    given = table()
    runs = runs_of(given, sample=20)
    save_maps(tmp_path / "maps.h5ad", given, runs)
    with h5py.File(tmp_path / "maps.h5ad") as cache:
        assert dict(cache.attrs) == {"encoding-type": "anndata", "encoding-version": "0.1.0"}
        assert set(cache) == {"X", "obs", "var", "obsm", "varm", "obsp", "varp", "layers", "uns"}
        np.testing.assert_array_equal(cache["X"][()], given.X)
        assert cache["var/_index"].asstr()[()].tolist() == ["a", "b", "c"]
        assert cache["obs/_index"].asstr()[()].tolist() == list(given.row_names)
        for run in runs[1:]:
            np.testing.assert_array_equal(cache[f"obsm/X_isentropic_{run.method}"][()], run.embedding)
        order = cache["obs"].attrs["column-order"].tolist()
        assert order[:3] == [
            "target",
            *[c for c in maps_frame(given, runs).columns if "false" in c][:1],
            order[2],
        ]
        codes, names = cache["obs/target/codes"][()], cache["obs/target/categories"].asstr()[()]
        assert names[codes].tolist() == given.labels.tolist()
        scores = cache["obs/first_tears"][()]
        np.testing.assert_array_equal(scores, maps_frame(given, runs)["first_tears"])


def test_anndata_reads_the_h5ad_file(tmp_path):
    pytest.importorskip("h5py", reason="h5py is not installed: pip install 'isentropic[h5ad]'")
    anndata = pytest.importorskip("anndata", reason="anndata is not installed (it asks for pandas before 3)")
    given = table()
    runs = runs_of(given)
    save_maps(tmp_path / "maps.h5ad", given, runs)
    read = anndata.read_h5ad(tmp_path / "maps.h5ad")
    assert read.shape == given.X.shape
    np.testing.assert_array_equal(read.obsm["X_isentropic_first"], runs[1].embedding)
    assert read.obs["target"].tolist() == given.labels.tolist()


def test_names_that_hdf5_would_misread(tmp_path):
    """A stroke would open a folder, a lone surrogate is no text: neither loses a row."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install 'isentropic[h5ad]'")
    given = replace(table(), row_names=("a\udce9", *table().row_names[1:]))
    run = replace(runs_of(given)[1], method="a/b")
    save_maps(tmp_path / "maps.h5ad", given, [run])
    with h5py.File(tmp_path / "maps.h5ad") as cache:
        assert list(cache["obsm"]) == ["X_isentropic_a_b"]
        assert cache["obs/_index"].asstr()[0] == "a\\udce9"
        assert "a_b_tears" in cache["obs"]


def test_data_map_is_what_datamapplot_takes(tmp_path):
    given = table()
    runs = runs_of(given)
    save_maps(tmp_path / "maps.json", given, runs)
    found = json.loads((tmp_path / "maps.json").read_text(encoding="utf-8"))
    assert found == data_map(given, runs)
    coordinates = np.array(found["data_map_coords"])
    assert coordinates.shape == (40, 2)
    np.testing.assert_array_equal(
        coordinates, next(r for r in runs if r.method == found["sub_title"]).embedding
    )
    assert found["labels"] == given.labels.tolist()
    assert len(found["hover_text"]) == 40
    assert found["hover_text"][3].startswith("row 3\nfalse_neighbors: 0.")
    assert np.array(found["maps"]["line"])[:, 1].tolist() == [0.0] * 40  # a plane needs two
    assert set(data_map(table(classes=False), runs)["labels"]) == {"Unlabelled"}


def test_names_of_the_columns_are_those_of_the_table():
    iris = datasets.load("builtin:iris")
    Z = iris.X[:, :2]
    frame = maps_frame(iris, [Run("pca", {}, None, 0.1, None, Z, assess(iris.X, Z))])
    assert list(frame.columns[:2]) == ["row", iris.preparation.target or "target"]


@pytest.mark.parametrize("target", ["row", "first_0", "second_tears", "_index", "a/b"])
def test_a_target_called_as_another_column_takes_nothing_from_it(target, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"), index=range(40))
    given = datasets.load(frame.assign(**{target: ["left", "right"] * 20}), target=target)
    runs = runs_of(given)
    found = maps_frame(given, runs)
    assert found.columns[0] == "row"
    assert found["row"].tolist() == list(given.row_names)
    assert found.iloc[:, 1].tolist() == ["left", "right"] * 20
    np.testing.assert_array_equal(found["first_0"], runs[1].embedding[:, 0])
    h5py = pytest.importorskip("h5py")
    save_maps(tmp_path / "maps.h5ad", given, runs)
    with h5py.File(tmp_path / "maps.h5ad") as cache:
        order = list(cache["obs"].attrs["column-order"])
        assert len(set(order)) == len(order) == found.shape[1] - 1 - 5
        assert set(order) | {"_index"} == set(cache["obs"])
