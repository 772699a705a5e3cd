"""isentropic methods, isentropic datasets, and the help."""

import json

import pytest

from isentropic._core import errors
from isentropic.datasets import catalogue
from isentropic.registry import METHODS


def test_every_method_has_its_line(run):
    result = run("methods")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(METHODS)
    for line, method in zip(lines, METHODS.values(), strict=True):
        for fact in (method.family, method.summary, method.cost, method.out_of_sample):
            assert fact in line


@pytest.mark.parametrize("name", METHODS)
def test_one_method_with_its_parameters(run, name):
    method = METHODS[name]
    text = run("methods", name).stdout
    for fact in (method.summary, method.reference, method.family):
        assert fact in text
    assert "  n_components = 2\n      Dimension of the map" in text


def test_a_preset_shows_its_own_default(run):
    assert "n_landmarks = 500" in run("methods", "landmark-isomap").stdout
    assert "n_landmarks = None" in run("methods", "isomap").stdout


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_is_described(run, name):
    described = json.loads(run("methods", name, "--json").stdout)
    assert described["name"] == name
    assert described["parameters"]
    for parameter in described["parameters"]:
        assert parameter["text"], parameter["name"]


def test_parameters_that_share_a_description(run, stub_methods):
    described = {p["name"]: p for p in json.loads(run("methods", "stub", "--json").stdout)["parameters"]}
    assert described["n_jobs"]["text"] == described["random_state"]["text"] == "Kept."
    assert described["does"]["default"] == ""


def test_a_method_whose_extra_is_missing_is_marked(run, stub_methods, monkeypatch):
    assert run("methods", "absent", "--json").exit_code == 0
    monkeypatch.setattr(errors, "EXTRAS", {"parquet": ("no_such_module",)})
    command = "pip install 'isentropic[parquet]'"
    (line,) = (line for line in run("methods").stdout.splitlines() if line.startswith("absent "))
    assert f"Needs: {command}" in line
    assert command in run("methods", "absent").stdout
    assert json.loads(run("methods", "absent", "--json").stdout)["installed"] is False
    result = run("embed", "builtin:iris", "--method", "absent", "--out", "map.csv")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert command in result.stderr


def test_methods_for_programs(run):
    methods = json.loads(run("methods", "--json").stdout)
    assert [method["name"] for method in methods] == list(METHODS)
    assert {"summary", "family", "cost", "reference", "out_of_sample"} < set(methods[0])


def test_a_misspelt_method_is_a_usage_error(run):
    result = run("methods", "isomup")
    assert result.exit_code == 2
    assert "Did you mean 'isomap'" in result.stderr


def test_every_table_at_hand_is_listed(run):
    result = run("datasets")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [
        entry.source for entry in catalogue()
    ]


def test_datasets_for_programs(run):
    entries = json.loads(run("datasets", "--json").stdout)
    assert entries[0]["source"] == "builtin:iris"
    assert entries[0]["n_samples"] == 150


@pytest.mark.parametrize("command", ["embed", "transform", "methods", "datasets", None])
def test_the_help_has_an_example(run, command):
    result = run(*([command] if command else []), "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert f"\n  isentropic {command or 'embed'}" in result.stdout.replace("    isentropic", "  isentropic")
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_version(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("isentropic 0.")


@pytest.mark.parametrize("arguments", [["embod"], ["--verison"], ["methods", "a", "b"]])
def test_unknown_words_are_usage_errors(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
