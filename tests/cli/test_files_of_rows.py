"""embed and transform of a folder or a pattern: a folder of files comes out."""

import json

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic import scale
from isentropic.quality import assess
from isentropic.scale import map_samples
from isentropic.scale.saved_model import read_model
from isentropic.tables import load
from many_files import rows_of_many_files, write_parts


@pytest.fixture(scope="module")
def frame():
    return rows_of_many_files()


@pytest.fixture
def parts(frame, tmp_path):
    return write_parts(frame, tmp_path / "parts")


def test_a_folder_is_embedded_and_mapped(run, parts, frame, tmp_path):
    out = tmp_path / "map"
    result = run("embed", parts, "-m", "isomap", "--fit-rows", "200", "-o", out)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "isomap: fitted to 200 of 1,000 rows"
    assert lines[1].startswith("mapped 1,000 rows in 5 files: ")
    assert lines[-1] == f"wrote {out}"
    Z = pd.concat([pd.read_parquet(out / f"part-{i}.parquet") for i in range(5)])
    expected = scale.map_batch(out / "model.isentropic", frame)
    assert_array_equal(Z[["isomap0", "isomap1"]].to_numpy(), expected.to_numpy())


def test_the_same_command_goes_on_where_it_was(run, parts, tmp_path):
    command = ("embed", f"{parts}/*.parquet", "-m", "pca", "-o", tmp_path / "map")
    assert run(*command).exit_code == 0
    (tmp_path / "map" / "part-0.parquet").unlink()
    result = run(*command)
    assert "as before" in result.stdout
    assert "mapped 1,000 rows in 5 files, 4 of them there from before: " in result.stdout


def test_new_rows_in_many_files(run, parts, tmp_path):
    assert run("embed", parts, "-m", "pca", "-o", tmp_path / "map").exit_code == 0
    model = tmp_path / "map" / "model.isentropic"
    result = run("transform", model, parts, "-o", tmp_path / "new", "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["rows"], summary["files"], summary["kept"], summary["failed"]) == (1000, 5, 0, [])
    one = run("transform", model, parts / "part-4.parquet", "-o", tmp_path / "one.parquet")
    assert one.exit_code == 0, one.stderr
    first, second = (
        pd.read_parquet(path) for path in (tmp_path / "one.parquet", tmp_path / "new/part-4.parquet")
    )
    assert_array_equal(first[["pca0", "pca1"]].to_numpy(), second[["pca0", "pca1"]].to_numpy())


def test_a_single_file_may_be_mapped_to_a_folder(run, parts, tmp_path):
    result = run("embed", parts / "part-4.parquet", "-m", "pca", "-o", tmp_path / "map", "-q")
    assert (result.exit_code, result.stdout) == (0, "")
    assert len(pd.read_parquet(tmp_path / "map" / "part-4.parquet")) == 360


def test_a_file_that_fails_is_a_failure_and_the_rest_is_there(run, parts, tmp_path):
    assert run("embed", parts, "-m", "pca", "-o", tmp_path / "map").exit_code == 0
    bad = pd.read_parquet(parts / "part-3.parquet")
    bad.loc[5, "a"] = None
    bad.to_parquet(parts / "part-3.parquet", index=False)
    result = run("transform", tmp_path / "map" / "model.isentropic", parts, "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "1 file of 5 could not be mapped" in result.stderr
    assert "part-3.parquet: row 5 is refused" in result.stderr
    assert "Traceback" not in result.stderr
    assert len(list((tmp_path / "new").glob("*.parquet"))) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["PARTS", "-m", "pca", "-o", "map.csv"], "--out must be a folder for a source of many files"),
        (["PARTS", "-m", "pca", "-o", "PARTS"], "must be another folder than the source's"),
        (["PARTS", "-m", "pca", "-o", "map", "--fit-rows", "few"], "must be a number of rows from 10"),
        (["PARTS", "-m", "pca", "-o", "map", "--cluster", "two"], "must be local:N"),
        (["none/*.parquet", "-m", "pca", "-o", "map"], "must be files of rows, got none"),
        (
            ["PARTS/part-4.parquet", "-m", "pca", "-o", "m.csv", "--fit-rows", "20"],
            "--fit-rows must be left out",
        ),
    ],
)
def test_usage_errors(run, parts, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    result = run("embed", *(one.replace("PARTS", str(parts)) for one in arguments))
    assert result.exit_code == 2, result.stderr
    assert says in result.stderr
    assert not (tmp_path / "map").exists()
    assert sorted(path.name for path in parts.iterdir()) == [f"part-{i}.parquet" for i in range(5)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "map", "--save", "parts/part-1.parquet"], "must be another file than its sources"),
        (["-o", "map", "--save", "linked.parquet"], "must be another file than its sources"),
        (["-o", "map", "--save", "notes.txt"], "must be a new file, or one that isentropic saved a model in"),
        (["-o", "map", "--save", "map/part-1.parquet"], "must be another file than those of the map"),
        (["-o", "map", "--save", "map/manifest.json"], "must be another file than those of the map"),
        (["-o", "other"], "must be a new file, or one that isentropic saved a model in"),
        (["-o", "foreign"], "without a file manifest.json of another kind"),
        (["-o", "parts/map"], "must be another folder than the source's"),
        (["-o", "map", "--plot", "map.png"], "--plot must be left out"),
        (["-o", "map", "--raw-text"], "--raw-text must be left out"),
    ],
)
def test_nothing_is_lost(run, parts, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for folder, name in (("other", "model.isentropic"), ("foreign", "manifest.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("mine", encoding="utf-8")
    (tmp_path / "linked.parquet").symlink_to(parts / "part-0.parquet")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run("embed", parts, "-m", "pca", *arguments)
    assert result.exit_code == 2, result.stderr
    assert says in result.stderr
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_threads_are_no_other_model(run, parts, tmp_path):
    command = ("embed", parts, "-m", "isomap", "--fit-rows", "200", "-o", tmp_path / "map", "--jobs")
    assert run(*command, 1).exit_code == 0
    again = run(*command, 2)
    assert again.exit_code == 0, again.stderr
    assert "5 of them there from before" in again.stdout


def test_another_model_is_not_fitted_into_a_folder_that_has_one(run, parts, frame, tmp_path):
    command = ("embed", parts, "-m", "pca", "-o", tmp_path / "map")
    assert run(*command).exit_code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "map").iterdir()}
    frame.iloc[:200].to_parquet(parts / "part-0.parquet", index=False)
    refused = run(*command)
    assert refused.exit_code == 2
    assert "must be a folder without the map of another model" in refused.stderr
    assert before == {path: path.read_bytes() for path in (tmp_path / "map").iterdir()}
    frame.iloc[:300].to_parquet(parts / "part-0.parquet", index=False)
    (tmp_path / "map" / "model.isentropic").unlink()  # the same rows give the same model again
    again = run(*command)
    assert again.exit_code == 0, again.stderr
    assert "5 of them there from before" in again.stdout


@pytest.mark.parametrize(
    "out", ["parts/part-0.csv", "map/part-0.parquet", "map/manifest.json", "map/model.isentropic"]
)
def test_quality_replaces_nothing_that_it_reads(run, frame, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(2):
        part = frame.iloc[500 * number : 500 * (number + 1)]
        part.to_csv(parts / f"part-{number}.csv", index=False)
    assert run("embed", "parts", "-m", "pca", "-o", "map").exit_code == 0
    before = (tmp_path / out).read_bytes()
    result = run("quality", "parts", "map", "--out", out)
    assert result.exit_code == 2
    assert (tmp_path / out).read_bytes() == before
    if out.endswith(".csv") or out.endswith(".parquet"):
        assert "must be another file than its sources" in result.stderr


def test_layout_options_reach_the_files(run, frame, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    text = frame.to_csv(index=False)
    (parts / "part-0.csv").write_text(f"a,b,c,d,written by hand\n{text}", encoding="utf-8")
    options = ("--skip-lines", "1", "--header", "--separator", ",")
    result = run("embed", parts, "-m", "pca", "-o", tmp_path / "map", *options)
    assert result.exit_code == 0, result.stderr
    model = tmp_path / "map" / "model.isentropic"
    result = run("transform", model, parts, "-o", tmp_path / "new", *options)
    assert result.exit_code == 0, result.stderr
    expected = scale.map_batch(model, frame)
    for folder in ("map", "new"):
        found = pd.read_parquet(tmp_path / folder / "part-0.parquet")
        assert_array_equal(found[["pca0", "pca1"]].to_numpy(), expected.to_numpy())


def test_the_map_of_a_folder_is_assessed_on_drawn_rows(run, parts, frame, tmp_path, monkeypatch):
    assert run("embed", parts, "-m", "isomap", "--fit-rows", "200", "-o", tmp_path / "map").exit_code == 0
    whole = run("quality", parts, tmp_path / "map", "--json")
    assert whole.exit_code == 0, whole.stderr
    saved = tmp_path / "map" / "model.isentropic"
    table = load(frame, preparation=read_model(saved).preparation)
    expected = assess(table.X, scale.map_batch(saved, frame).to_numpy(), n_neighbors=10)
    found = json.loads(whole.stdout)["quality"]["measures"]["trustworthiness(10)"]["value"]
    assert found == pytest.approx(expected.measures["trustworthiness(10)"].value, abs=1e-12)
    monkeypatch.setattr(map_samples, "SAMPLED", 300)
    drawn = run("quality", parts, tmp_path / "map", "--json", "--out", tmp_path / "scores.csv")
    assert "Of 300 of 1,000 rows, drawn:" in drawn.stderr
    assert len(pd.read_csv(tmp_path / "scores.csv")) == 300
    (parts / "part-9.parquet").write_bytes((parts / "part-0.parquet").read_bytes())
    refused = run("quality", parts, tmp_path / "map")
    assert refused.exit_code == 1
    assert "Map the source again" in refused.stderr


def test_a_cluster_gives_the_same_files(run, parts, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra 'scale'")
    assert run("embed", parts, "-m", "pca", "-o", tmp_path / "map").exit_code == 0
    result = run(
        "transform",
        tmp_path / "map" / "model.isentropic",
        parts,
        "-o",
        tmp_path / "new",
        "--cluster",
        "local:2",
    )
    assert result.exit_code == 0, result.stderr
    for i in range(5):
        one, other = (tmp_path / folder / f"part-{i}.parquet" for folder in ("map", "new"))
        assert one.read_bytes() == other.read_bytes()
