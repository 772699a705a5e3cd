"""isentropic report for programs: the schema of --json, and the files of --maps."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pandas as pd
import pytest
import stubs

import isentropic.report
from isentropic import datasets

QUICK = ("--methods", "pca,classical-mds", "--preset", "quick")
SCHEMA = json.loads(files("isentropic.cli").joinpath("report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def report(run, tmp_path, monkeypatch):
    """The command in a folder of its own; nobody looks at the page here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(isentropic.report, "page", lambda *given, **options: stubs.PAGE)
    return lambda *arguments: run("report", *arguments)


def require_described(document):
    """Valid, and without a field that the schema does not know."""
    jsonschema.Draft202012Validator(
        SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(document)


def told(result):
    assert result.exit_code in (0, 1), result.stderr
    return json.loads(result.stdout)


# ---- the schema --------------------------------------------------------------------------------


def test_the_schema_is_one_and_says_what_each_field_means(run):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(run("report", "--schema").stdout) == SCHEMA
    described = [SCHEMA, *SCHEMA["$defs"].values()]
    for part in described:
        assert part["additionalProperties"] is False
        assert part["description"]
        for name, field in part["properties"].items():
            assert field.get("description") or "$ref" in field or name == "value", name


def test_reports_of_classes_and_trials_are_as_the_schema_says(report, flats, tmp_path):
    options = ("--target", "quarter", "--index", "flat", "--methods", "pca,lda", "--preset", "quick")
    document = told(report(flats, *options, "--folder", tmp_path / "runs", "--json"))
    require_described(document)
    assert document["runs"][1]["label_test"] is not None
    assert "folder" in document


def test_reports_of_failed_runs_are_as_the_schema_says(report, flats, stub_methods):
    failed = told(report(flats, "--drop", "quarter", "--index", "flat", "--methods", "labelled", "--json"))
    require_described(failed)
    assert failed["runs"][0]["measures"] == {}
    assert failed["verdict"]["shown"] is None
    part = told(report(flats, "--drop", "quarter", "--index", "flat", "--methods", "labelled,pca", "--json"))
    require_described(part)


def test_reports_of_sampled_scores_and_tuned_methods_are_as_the_schema_says(report, monkeypatch):
    """As for a table whose scores are estimated: they have intervals."""
    from isentropic.comparison.evaluation import method_evaluation as jobs

    real = jobs.assess
    monkeypatch.setattr(jobs, "assess", lambda *given, **options: real(*given, **{**options, "sample": 60}))
    document = told(report("builtin:iris", "--methods", "isomap", "--json"))
    require_described(document)
    (run,) = document["runs"]
    assert run["measures"]["trustworthiness(10)"]["low"] is not None
    assert run["trials"]


def test_a_field_that_nobody_described_is_noticed(report):
    document = told(report("builtin:iris", *QUICK, "--json"))
    require_described(document)
    for place in (document, document["verdict"], document["runs"][0], document["verdict"]["ratings"][0]):
        place["novel"] = 1
        with pytest.raises(jsonschema.ValidationError, match="novel"):
            require_described(document)
        del place["novel"]
    del document["runs"][0]["measures"]
    with pytest.raises(jsonschema.ValidationError, match="measures"):
        require_described(document)


# ---- files of the maps -------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather", "h5ad", "json"])
def test_maps_are_written_beside_the_page(report, flats, tmp_path, suffix):
    path = tmp_path / f"maps.{suffix}"
    result = report(flats, "--target", "quarter", "--index", "flat", "--maps", path, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"wrote report.html and {path}"
    reading = {"csv": pd.read_csv, "parquet": pd.read_parquet, "feather": pd.read_feather}
    if suffix in reading:
        frame = reading[suffix](path)
        assert list(frame.columns[:2]) == ["flat", "quarter"]
        assert {"pca_0", "classical-mds_1", "pca_tears", "classical-mds_false_neighbors"} <= set(
            frame.columns
        )
        assert len(frame) == 30
    elif suffix == "json":
        assert len(json.loads(path.read_text(encoding="utf-8"))["data_map_coords"]) == 30
    else:
        assert path.read_bytes()[:4] == b"\x89HDF"


def test_programs_read_where_the_maps_are(report, flats, tmp_path):
    document = told(report(flats, "--drop", "quarter", "--maps", "maps.csv", "--json", *QUICK))
    require_described(document)
    assert document["maps"] == "maps.csv"
    assert (tmp_path / "maps.csv").exists()


def test_if_all_fail_there_are_no_maps_to_write(report, flats, tmp_path, stub_methods):
    options = ("--drop", "quarter", "--index", "flat", "--methods", "labelled", "--maps", "maps.csv")
    result = report(flats, *options)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "wrote report.html"
    assert not (tmp_path / "maps.csv").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("maps.xls", "--maps must be a file ending in .csv"),
        ("flats.csv", "--maps must be another file than its sources"),
        ("nowhere/maps.csv", "there is no folder"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_work(report, flats, tmp_path, path, text):
    result = report(flats, "--maps", tmp_path / path, *QUICK)
    assert result.exit_code in (1, 2)
    assert text in result.stderr
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("suffix", "module", "extra"), [("h5ad", "h5py", "h5ad"), ("feather", "pyarrow", "parquet")]
)
def test_a_missing_extra_is_named_before_the_work(report, flats, monkeypatch, suffix, module, extra):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    result = report(flats, "--maps", f"maps.{suffix}", *QUICK)
    assert result.exit_code == 1
    assert f"pip install 'isentropic[{extra}]'" in result.stderr


# ---- other commands that write maps ------------------------------------------------------------


def test_embed_writes_h5ad_and_feather(run, flats, tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install 'isentropic[h5ad]'")
    options = ("-m", "pca", "--index", "flat", "--target", "quarter")
    for name in ("map.csv", "map.feather", "map.h5ad"):
        result = run("embed", flats, *options, "--out", tmp_path / name)
        assert result.exit_code == 0, result.stderr
    plain = pd.read_csv(tmp_path / "map.csv")
    pd.testing.assert_frame_equal(pd.read_feather(tmp_path / "map.feather"), plain, check_dtype=False)
    with h5py.File(tmp_path / "map.h5ad") as store:
        np.testing.assert_array_equal(store["obsm/X_isentropic_pca"][()], plain[["pca0", "pca1"]])
        assert store["obs/_index"].asstr()[0] == "f00"
        assert store["X"].shape == (30, 4)


def test_quality_writes_the_scores_of_each_row(run, flats, tmp_path):
    from isentropic.quality import assess

    options = ("--index", "flat", "--target", "quarter")
    run("embed", flats, "-m", "pca", "--out", tmp_path / "map.csv", *options)
    result = run(
        "quality", flats, tmp_path / "map.csv", "--k", 5, "--out", tmp_path / "scores.parquet", *options
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"wrote {tmp_path / 'scores.parquet'}"
    frame = pd.read_parquet(tmp_path / "scores.parquet")
    X = datasets.load(flats, "quarter", index="flat").X
    quality = assess(X, frame[["pca0", "pca1"]].to_numpy(), n_neighbors=5)
    np.testing.assert_array_equal(frame["false_neighbors(5)"], quality.false_neighbors[:, 0])
    np.testing.assert_array_equal(frame["tears(5)"], quality.tears[:, 0])
    assert frame["flat"].tolist()[:2] == ["f00", "f01"]
    told_ = json.loads(
        run("quality", flats, tmp_path / "map.csv", "--out", tmp_path / "s.csv", "--json", *options).stdout
    )
    assert told_["out"] == str(tmp_path / "s.csv")
