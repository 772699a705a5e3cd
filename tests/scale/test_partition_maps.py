"""map_rows: one output file for each input file, the same bits whatever the files, and work that goes on."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic import scale
from isentropic._core.errors import InvalidInputError, IsentropicError
from isentropic.scale import partition_maps
from isentropic.scale.map_folders import require_output_folder
from isentropic.tables.partitions import partitions_of
from isentropic.tables.readers.layout import Layout
from many_files import save_model, write_parts


def coordinates(found):
    return pd.concat([pd.read_parquet(path) for path in found.files])[["isomap0", "isomap1"]].to_numpy()


@pytest.fixture(scope="session")
def expected(frame, model):
    return scale.map_batch(model, frame).to_numpy()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cuts", [(0, 1000), (0, 300, 300, 301, 640, 1000), range(0, 1001, 40)])
def test_files_and_threads_do_not_change_a_bit(frame, model, expected, tmp_path, cuts, n_jobs):
    parts = write_parts(frame, tmp_path / "parts", cuts)
    found = scale.map_rows(model, parts, tmp_path / "map", n_jobs=n_jobs)
    by_name = sorted(found.files, key=lambda path: int(path.stem.split("-")[1]))
    Z = pd.concat([pd.read_parquet(path) for path in by_name])[["isomap0", "isomap1"]].to_numpy()
    assert_array_equal(Z, expected)
    assert found.n_rows == 1000


@pytest.mark.parametrize("size", [1, 97])
def test_batches_do_not_change_a_bit(model, parts, expected, tmp_path, monkeypatch, size):
    monkeypatch.setattr(partition_maps, "batch_rows", lambda n_columns: size)
    assert_array_equal(coordinates(scale.map_rows(model, parts, tmp_path / "map")), expected)


def test_each_input_has_an_output_and_a_line_of_the_manifest(model, parts, tmp_path):
    found = scale.map_rows(model, parts, tmp_path / "map")
    assert [path.name for path in found.files] == [f"part-{i}.parquet" for i in range(5)]
    first = pd.read_parquet(found.files[0])
    assert list(first.columns) == ["row", "isomap0", "isomap1"]
    assert first["row"].tolist() == list(range(300))
    manifest = json.loads((tmp_path / "map" / "manifest.json").read_text("utf-8"))
    assert (manifest["method"], manifest["rows"]) == ("isomap", 1000)
    assert [one["rows"] for one in manifest["files"]] == [300, 0, 1, 339, 360]
    assert all(len(one["sha256"]) == 64 for one in manifest["files"])
    assert str(tmp_path) not in json.dumps(manifest)


def test_text_and_array_sources(frame, model, expected, tmp_path):
    frame.to_csv(tmp_path / "all.csv", index=False)
    found = scale.map_rows(model, tmp_path / "all.csv", tmp_path / "map")
    assert_array_equal(coordinates(found), expected)
    X = np.random.default_rng(0).normal(size=(50, 3))
    np.save(tmp_path / "X.npy", X)
    columns = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    pca = save_model(columns, tmp_path / "pca.isentropic", "pca")
    found = scale.map_rows(pca, tmp_path / "X.npy", tmp_path / "map2")
    assert_array_equal(pd.read_parquet(found.files[0]).iloc[:, 1:], scale.map_batch(pca, columns))


def test_the_column_that_names_the_rows_does_so(frame, tmp_path):
    named = frame.assign(name=[f"r{i:04}" for i in range(1000)])
    with pytest.warns(match="'name' names the rows"):
        model = save_model(named, tmp_path / "m.isentropic", "pca")
    found = scale.map_rows(model, write_parts(named, tmp_path / "parts", (0, 600, 1000)), tmp_path / "map")
    written = pd.concat([pd.read_parquet(path) for path in found.files])
    assert written["name"].tolist() == named["name"].tolist()


# ---- what is there ---------------------------------------------------------------------------------


def test_what_is_done_is_kept(model, parts, tmp_path):
    first = scale.map_rows(model, parts, tmp_path / "map")
    times = [path.stat().st_mtime_ns for path in first.files]
    (tmp_path / "map" / "part-3.parquet").unlink()
    again = scale.map_rows(model, parts, tmp_path / "map")
    assert [one.was_there for one in again.partitions] == [True, True, True, False, True]
    assert again.n_rows == 1000
    assert [p.stat().st_mtime_ns for p in again.files[:3]] == times[:3]


def test_another_input_is_mapped_again(frame, model, parts, tmp_path):
    scale.map_rows(model, parts, tmp_path / "map")
    frame.iloc[:200].to_parquet(parts / "part-0.parquet", index=False)
    again = scale.map_rows(model, parts, tmp_path / "map")
    assert [one.was_there for one in again.partitions] == [False, True, True, True, True]


def test_the_map_of_another_model_is_kept(frame, model, parts, tmp_path):
    other = save_model(frame.iloc[::5], tmp_path / "other.isentropic")
    found = scale.map_rows(model, parts, tmp_path / "map")
    before = [path.read_bytes() for path in found.files]
    for of_an_interrupted_run in (False, True):
        if of_an_interrupted_run:
            (tmp_path / "map" / "manifest.json").unlink()
        with pytest.raises(InvalidInputError, match=r"the map of another model.*Give another folder"):
            scale.map_rows(other, parts, tmp_path / "map")
        assert [path.read_bytes() for path in found.files] == before


@pytest.mark.parametrize("text", ["{}", "mine", "[1]", '{"files": [{"output": "../x"}], "format": 1}'])
def test_a_manifest_of_others_is_kept(model, parts, tmp_path, text):
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"without a file manifest\.json of another kind"):
        scale.map_rows(model, parts, tmp_path / "map")
    assert [path.name for path in (tmp_path / "map").iterdir()] == ["manifest.json"]
    assert (tmp_path / "map" / "manifest.json").read_text(encoding="utf-8") == text


def test_files_whose_source_is_gone_are_removed(model, parts, tmp_path):
    scale.map_rows(model, parts, tmp_path / "map")
    (tmp_path / "map" / "part-9.parquet").write_bytes(b"mine")
    (parts / "part-2.parquet").unlink()
    (parts / "part-3.parquet").unlink()
    (tmp_path / "map" / "part-3.parquet").write_bytes(b"mine, too")
    with pytest.warns(match="1 file of coordinates removed from"):
        scale.map_rows(model, parts, tmp_path / "map")
    there = sorted(path.name for path in (tmp_path / "map").glob("*.parquet"))
    assert there == [f"part-{i}.parquet" for i in (0, 1, 3, 4, 9)]
    manifest = json.loads((tmp_path / "map" / "manifest.json").read_text("utf-8"))
    assert [one["name"] for one in manifest["files"]] == ["part-0", "part-1", "part-4"]


@pytest.mark.parametrize(
    ("source", "out"),
    [
        ("parts", "parts/map"),
        ("parts", "parts/a/b"),
        ("parts/**/*.parquet", "parts/map"),
        ("parts*/*.parquet", "parts-2"),
        ("*/*.parquet", "map"),
    ],
)
def test_a_map_that_would_be_read_the_next_time_is_refused(model, parts, tmp_path, source, out):
    with pytest.raises(InvalidInputError, match="must be another folder than the source's"):
        scale.map_rows(model, tmp_path / source, tmp_path / out)
    with pytest.raises(InvalidInputError, match="must be another folder than the source's"):
        scale.map_rows(model, [tmp_path / source], tmp_path / out)
    assert not (tmp_path / out).exists()


def test_a_pattern_of_folders_reads_all_below_them(parts, tmp_path):
    partitions = partitions_of(parts)
    with pytest.raises(InvalidInputError, match="must be another folder than the source's"):
        require_output_folder(tmp_path / "parts-2" / "map", tmp_path / "parts*", partitions)
    require_output_folder(tmp_path / "map", tmp_path / "parts*", partitions)


@pytest.mark.parametrize(
    ("source", "out"),
    [("parts/*.parquet", "parts/map"), ("parts/*", "parts/map"), ("parts/part-4.parquet", "parts/map")],
)
def test_a_map_beside_what_is_read_is_fine(model, parts, tmp_path, source, out):
    for _ in range(2):
        found = scale.map_rows(model, tmp_path / source, tmp_path / out)
    assert all(one.was_there for one in found.partitions)


def test_another_version_maps_again(model, parts, tmp_path, monkeypatch):
    scale.map_rows(model, parts, tmp_path / "map")
    monkeypatch.setattr(partition_maps, "__version__", "999")
    assert not any(one.was_there for one in scale.map_rows(model, parts, tmp_path / "map").partitions)


def test_a_layout_that_is_given_is_kept(frame, model, expected, tmp_path):
    lines = frame.to_csv(index=False, header=False)
    (tmp_path / "all.csv").write_text("by hand\n" + "a,b,c,d,kind\n" + lines, encoding="utf-8")
    found = scale.map_rows(model, tmp_path / "all.csv", tmp_path / "map", layout=Layout(",", True, 1))
    assert_array_equal(coordinates(found), expected)


def test_files_of_others_and_inputs_are_safe(model, parts, tmp_path):
    with pytest.raises(InvalidInputError, match="must be another folder than the source's"):
        scale.map_rows(model, parts, parts)
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "part-2.parquet").write_bytes(b"mine")
    with pytest.raises(InvalidInputError, match=r"without a file part-2\.parquet of another kind"):
        scale.map_rows(model, parts, tmp_path / "map")
    assert (tmp_path / "map" / "part-2.parquet").read_bytes() == b"mine"
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="must be a folder"):
        scale.map_rows(model, parts, tmp_path / "file")


_SCRIPT = """
import sys
from isentropic import scale
from isentropic.scale import partition_maps
write = partition_maps._write_rows
def slowly(*args):
    import time
    print("file", flush=True)
    time.sleep(0.3)
    return write(*args)
partition_maps._write_rows = slowly
scale.map_rows(*sys.argv[1:])
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_ended_goes_on(model, parts, expected, tmp_path, sent):
    arguments = [sys.executable, "-c", _SCRIPT, str(model), str(parts), str(tmp_path / "map")]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for _ in range(4):
        process.stdout.readline()  # three files are done, the fourth has begun
    process.send_signal(sent)
    process.wait(timeout=60)
    process.stdout.close()
    there = sorted(path.name for path in (tmp_path / "map").glob("*.parquet"))
    assert there == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    found = scale.map_rows(model, parts, tmp_path / "map")
    assert [one.was_there for one in found.partitions] == [True, True, True, False, False]
    assert_array_equal(coordinates(found), expected)


# ---- errors ----------------------------------------------------------------------------------------


def test_a_bad_row_is_named_and_the_rest_is_kept(frame, model, parts, expected, tmp_path):
    bad = pd.read_parquet(parts / "part-3.parquet")
    bad.loc[77, "c"] = np.nan
    bad.loc[200, "a"] = np.inf
    bad.to_parquet(parts / "part-3.parquet", index=False)
    found = scale.map_rows(model, parts, tmp_path / "map")
    (failed,) = found.failed
    assert failed.error.startswith("part-3.parquet: row 77 is refused: table must be complete")
    assert [one.rows for one in found.partitions] == [300, 0, 1, 0, 360]
    assert not (tmp_path / "map" / "part-3.parquet").exists()
    with pytest.raises(IsentropicError, match="1 file of 5 could not be mapped; the others are in"):
        found.raise_failed()
    frame.iloc[301:640].to_parquet(parts / "part-3.parquet", index=False)
    again = scale.map_rows(model, parts, tmp_path / "map")
    assert [one.was_there for one in again.partitions] == [True, True, True, False, True]
    assert_array_equal(coordinates(again), expected)


def test_what_an_earlier_run_made_of_a_file_that_fails_now_is_removed(model, parts, tmp_path):
    rows = pd.read_parquet(parts / "part-4.parquet")
    rows.to_parquet(parts / "part-4.parquet", index=False, write_page_checksum=True)
    scale.map_rows(model, parts, tmp_path / "map")
    assert (tmp_path / "map" / "part-4.parquet").exists()
    damaged = bytearray((parts / "part-4.parquet").read_bytes())
    damaged[100:1000] = bytes(900)  # of the first page; the footer is whole
    (parts / "part-4.parquet").write_bytes(damaged)
    found = scale.map_rows(model, parts, tmp_path / "map")
    assert [bool(one.error) for one in found.partitions] == [False, False, False, False, True]
    assert not (tmp_path / "map" / "part-4.parquet").exists()
    assert len(found.files) == 4


@pytest.mark.parametrize("error", [TypeError, KeyError, MemoryError, RuntimeError])
def test_whatever_a_file_raises_the_others_are_mapped(model, parts, tmp_path, monkeypatch, error):
    write = partition_maps._write_rows

    def failing(task, path, key):
        if path.name == "part-3.parquet":
            raise error("surprise")
        return write(task, path, key)

    monkeypatch.setattr(partition_maps, "_write_rows", failing)
    found = scale.map_rows(model, parts, tmp_path / "map")
    assert [one.rows for one in found.partitions] == [300, 0, 1, 0, 360]
    assert "surprise" in found.failed[0].error


def test_rows_with_missing_values_can_be_left_out(frame, model, parts, tmp_path):
    bad = pd.read_parquet(parts / "part-0.parquet")
    bad.loc[[3, 5], "a"] = np.nan
    bad.to_parquet(parts / "part-0.parquet", index=False)
    one = pd.read_parquet(parts / "part-2.parquet").assign(b=np.nan)  # no row is left of this file
    one.to_parquet(parts / "part-2.parquet", index=False)
    with pytest.warns(match="left out"):
        found = scale.map_rows(model, parts, tmp_path / "map", missing="drop")
    assert [(one.rows, one.left_out) for one in found.partitions][:3] == [(298, 2), (0, 0), (0, 1)]
    rows = pd.read_parquet(found.files[0])["row"].tolist()
    assert rows == [i for i in range(300) if i not in (3, 5)]
    again = scale.map_rows(model, parts, tmp_path / "map", missing="drop")
    assert [one.left_out for one in again.partitions] == [2, 0, 1, 0, 0]


def test_columns_are_checked_before_the_first_file_is_mapped(model, parts, tmp_path):
    pd.read_parquet(parts / "part-4.parquet").drop(columns="c").to_parquet(parts / "part-4.parquet")
    with pytest.raises(InvalidInputError, match=r"part-4\.parquet must have the columns of all files"):
        scale.map_rows(model, parts, tmp_path / "map")
    assert not (tmp_path / "map").exists()


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 100 MB takes hardly more than one of 26 MB, some batches."""
    columns = [f"c{j}" for j in range(8)]
    random = np.random.default_rng(0)
    few = pd.DataFrame(random.normal(size=(100, 8)), columns=columns)
    model = save_model(few, tmp_path / "m.isentropic", "pca")
    peaks = []
    for name, n in (("small", 400_000), ("large", 1_600_000)):
        path = tmp_path / f"{name}.parquet"
        rows = pd.DataFrame(random.normal(size=(n, 8)), columns=columns)
        rows.to_parquet(path, index=False, row_group_size=50_000)
        script = (
            "import sys; from isentropic import scale; scale.map_rows(*sys.argv[1:])\n"
            "print(int(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1]))"
        )
        if not os.path.exists("/proc/self/status"):
            pytest.skip("no /proc here")
        command = [sys.executable, "-c", script, str(model), str(path), str(tmp_path / name)]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] - peaks[0] < 30_000  # KiB
