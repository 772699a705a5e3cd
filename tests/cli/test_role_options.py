"""Roles of columns on the command line: --features, --label, --drop, --keep, --color."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def plants(tmp_path, monkeypatch):
    """A table with two measures, a panel's text, a word, a date in order and classes, some unknown."""
    monkeypatch.chdir(tmp_path)
    random, n = np.random.default_rng(0), 60
    kinds = np.array(["fern", "moss", "ivy"])[np.arange(n) % 3]
    frame = pd.DataFrame({
        "plot": [f"plot {i // 4}" for i in range(n)],
        "soil": np.where(np.arange(n) % 2, "sand", "clay"),
        "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
        "height": random.normal(size=n) + np.arange(n) % 3 * 4,
        "width": random.normal(size=n),
        "kind": kinds,
    })  # fmt: skip
    frame.loc[:5, "kind"] = None
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_report_names_every_column_and_colours_by_a_dropped_one(run, plants):
    result = run("report", plants, "--target", "kind", "--drop", "so*", "--color", "soil", "--methods", "pca",
                 "--preset", "quick", "--json", "-q")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert {column["name"]: column["role"] for column in told["columns"]} == {
        "plot": "label", "soil": "ignored", "day": "label", "height": "feature", "width": "feature",
        "kind": "target",
    }  # fmt: skip
    assert told["columns"][0]["command"] == "--keep plot"
    assert "--color soil --drop 'so*'" in told["command"]
    assert "6 rows of 60 without the target 'kind': mapped but not scored. --missing drop" in result.stderr
    assert told["runs"][0]["accuracy"] is not None
    page = (plants.parent / "report.html").read_text(encoding="utf-8")
    assert '"levels":["clay","sand"]' in page.replace('", "', '","').replace(": ", ":")


def test_the_commands_in_notices_can_be_given(run, plants):
    out = ("-m", "pca", "-o", "map.csv", "--json", "-q")
    first = run("embed", plants, *out)
    assert "--keep plot counts them as features" in first.stderr
    told = json.loads(
        run("embed", plants, *out, "--keep", "plot,day", "--label", "soil", "--label", "kind").stdout
    )
    assert [column["name"] for column in told["columns"] if column["role"] == "label"] == ["soil", "kind"]
    told = json.loads(run("embed", plants, *out, "--features", "height,width").stdout)
    assert told["features"] == 2


def test_a_pattern_without_a_column_is_refused(run, plants):
    result = run("embed", plants, "-m", "pca", "-o", "map.csv", "--drop", "widht")
    assert result.exit_code == 2
    assert "Did you mean 'width'" in result.stderr


def test_rows_without_a_class_go_through_every_command(run, plants):
    saved = ("--target", "kind", "--drop", "soil", "--save", "m.isentropic", "--plot", "map.png")
    assert run("embed", plants, "-m", "pca", "-o", "map.csv", *saved).exit_code == 0
    written = pd.read_csv("map.csv")
    assert written["kind"].isna().tolist() == [True] * 6 + [False] * 54
    again = run("transform", "m.isentropic", plants, "-o", "new.csv", "--json")
    assert again.exit_code == 0, again.stderr
    roles = {column["name"]: column["role"] for column in json.loads(again.stdout)["columns"]}
    assert (roles["plot"], roles["soil"], roles["height"]) == ("label", "ignored", "feature")
    found = pd.read_csv("new.csv")
    np.testing.assert_allclose(found.filter(like="pca"), written.filter(like="pca"), atol=1e-9)
    told = run("quality", plants, "map.csv", "--target", "kind", "--drop", "soil", "--json")
    assert told.exit_code == 0, told.stderr
    both = run("compare-maps", "map.csv", "new.csv", plants, "--target", "kind", "--drop", "soil", "--json")
    assert both.exit_code == 0, both.stderr
    refused = run("embed", plants, "-m", "lda", "-o", "l.csv", "--target", "kind", "--drop", "soil")
    assert refused.exit_code == 2
    assert "6 without one" in refused.stderr


def test_maps_of_a_report_have_the_labels(run, plants):
    options = ("--drop", "kind", "--methods", "pca", "--preset", "quick", "--maps", "maps.csv", "-q")
    result = run("report", plants, *options)
    assert result.exit_code == 0, result.stderr
    assert pd.read_csv("maps.csv")["plot"].tolist() == pd.read_csv(plants)["plot"].tolist()
