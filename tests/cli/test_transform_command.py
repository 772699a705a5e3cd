"""isentropic transform: new rows in a saved map."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import isentropic
from isentropic._core.models.saving import load_with_extra
from model_fuzz import rezipped


@pytest.fixture
def model(run, flats, tmp_path):
    path = tmp_path / "model.isentropic"
    result = run("embed", flats, "-m", "isomap", "-p", "n_neighbors=6", "-o", tmp_path / "map.csv",
                 "--index", "flat", "--target", "quarter", "--save", path)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return path


def test_the_same_rows_get_the_same_coordinates(run, model, flats, tmp_path):
    result = run("transform", model, flats, "-o", tmp_path / "again.csv")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "map.csv").read_bytes()


def test_new_rows_are_prepared_as_the_first_table_was(run, model, flats, tmp_path):
    (tmp_path / "new.csv").write_text(
        "flat,rooms,area,heating\nnew1,2,44,oil\nnew2,4,61,gas\n", encoding="utf-8"
    )
    result = run("transform", model, tmp_path / "new.csv", "-o", tmp_path / "out.parquet")
    assert result.exit_code == 0, result.stderr
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert list(frame.columns) == ["flat", "isomap0", "isomap1"]
    assert list(frame.flat) == ["new1", "new2"]
    fitted = isentropic.datasets.load(flats, "quarter", index="flat")
    table = isentropic.datasets.load(tmp_path / "new.csv", preparation=fitted.preparation)
    Z = isentropic.load(model).transform(table.X)
    assert_array_equal(frame[["isomap0", "isomap1"]].to_numpy(), Z)


def test_summary(run, model, flats, tmp_path):
    out = tmp_path / "out.csv"
    lines = run("transform", model, flats, "-o", out).stdout.splitlines()
    assert lines[0] == "flats: 30 rows, 4 features, scaling standard"
    assert lines[-1] == f"wrote {out}"
    summary = json.loads(run("transform", model, flats, "-o", out, "--json").stdout)
    assert (summary["method"], summary["rows"], summary["out"]) == ("isomap", 30, str(out))
    assert run("transform", model, flats, "-o", out, "-q").stdout == ""


def test_a_column_that_is_gone_is_a_usage_error(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("flat,rooms\nnew1,2\n", encoding="utf-8")
    result = run("transform", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "'area', 'heating'" in result.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("content", [b"", b"junk", None])
def test_a_model_from_elsewhere_is_a_failure(run, flats, tmp_path, content):
    if content is not None:
        (tmp_path / "model.isentropic").write_bytes(content)
    result = run("transform", tmp_path / "model.isentropic", flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path / 'model.isentropic'} ")
    assert len(result.stderr.splitlines()) == 1


def test_a_model_saved_without_its_table_says_what_to_do(run, flats, tmp_path):
    isentropic.save(isentropic.make("pca").fit(np.eye(4)), tmp_path / "model.isentropic")
    result = run("transform", tmp_path / "model.isentropic", flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "save it with 'isentropic embed --save'" in result.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"preparation": {"format": 1}},
        {"preparation": None},
        {"preparation": ["a"]},
        {"preparation.target": {"a": 1}},
        {"preparation.target": ["a", "b"]},
        {"preparation.index": 3},
        {"preparation.drop": {"a": 1}},
        {"preparation.class_names": [[]]},
        {"preparation.fill": [10**400]},
        {"preparation.columns": []},
        {"method": ["pca"]},
    ],
    ids=str,
)
def test_what_travels_with_a_model_is_checked(run, model, flats, tmp_path, change):
    estimator, extra = load_with_extra(model)
    for place, value in change.items():
        *outer, name = place.split(".")
        (extra[outer[0]] if outer else extra)[name] = value
    isentropic.save(estimator, model, extra=extra)
    result = run("transform", model, flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {model} ")
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_a_preparation_of_another_table_is_refused(run, model, flats, tmp_path):
    estimator, extra = load_with_extra(model)
    extra["preparation"] = isentropic.datasets.load("builtin:wine").preparation.to_json()
    isentropic.save(estimator, model, extra=extra)
    result = run("transform", model, flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "its preparation gives 13 features, and its map takes 4" in result.stderr


@pytest.mark.parametrize("name", ["graph_", "_require_sound", "removed"])
def test_a_tampered_model_is_a_failure_in_one_line(run, model, flats, tmp_path, name):
    def change(members):
        schema = json.loads(members["model.json"])
        fitted = schema["model"]["fitted"]
        if name == "removed":
            fitted.pop("_map")
        else:
            fitted[name] = None
        members["model.json"] = json.dumps(schema).encode()

    rezipped(model, change)
    result = run("transform", model, flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        f"Error: {model} must be a model saved by isentropic, but it is damaged (its "
    )
    assert len(result.stderr.splitlines()) == 1


def test_a_method_that_cannot_place_rows_says_so(run, flats, tmp_path, monkeypatch):
    from isentropic._core.models import saving as _saving

    monkeypatch.setattr(_saving, "load_with_extra", lambda path: (object(), {"method": "stub"}))
    result = run("transform", tmp_path / "model.isentropic", flats, "-o", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "stub cannot place new rows. Embed them together with the first table." in result.stderr


def test_the_model_is_not_overwritten(run, model, flats):
    result = run("transform", model, flats, "-o", model)
    assert result.exit_code == 2


def test_missing_values_of_new_rows_have_an_option(run, model, tmp_path):
    (tmp_path / "new.csv").write_text(
        "flat,rooms,area,heating\nnew1,2,44,oil\nnew2,,61,gas\n", encoding="utf-8"
    )
    arguments = ("transform", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert (
        "Choose --missing mean to fill in the means of the fitted table, or --missing drop" in refused.stderr
    )
    assert run(*arguments, "--missing", "mean").exit_code == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 2
    assert run(*arguments, "--missing", "drop").exit_code == 0
    assert list(pd.read_csv(tmp_path / "out.csv").flat) == ["new1"]
    for rule, words in (("keep", "--missing must be drop or mean for isomap"), ("median", "got 'median'")):
        refused = run(*arguments, "--missing", rule)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_rows_without_the_column_of_names_go_by_numbers_with_a_notice(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("rooms,area,heating\n2,44,oil\n4,61,gas\n", encoding="utf-8")
    result = run("transform", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert "has no column 'flat', which names the rows" in result.stderr
