"""isentropic verify: the same bits, other bits, and files that hold nothing to compare with."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isentropic._io import load_with_extra, save


@pytest.fixture
def model(run, flats, tmp_path):
    path = tmp_path / "model.skops"
    result = run(
        "embed", flats, "-m", "isomap", "-o", tmp_path / "map.csv", "--index", "flat", "--save", path
    )
    assert result.exit_code == 0, result.stderr
    return path


def changed(path, change):
    """The model again, with another witness."""
    estimator, extra = load_with_extra(path)
    change(extra)
    save(estimator, path, extra=extra)


def test_the_same_machine_gives_the_same_bits(run, model):
    result = run("verify", model)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "isomap: all 30 rows are placed with the same bits as when the model was saved.\n"
    told = json.loads(run("verify", model, "--json").stdout)
    assert (told["equal"], told["rows"], told["largest"]) == (True, 30, 0.0)
    assert run("verify", model, "-q").stdout == ""


def test_one_bit_is_told(run, model):
    def last_bit(extra):
        places = extra["witness"]["places"]
        places[3][1] = float(np.nextafter(places[3][1], np.inf))

    changed(model, last_bit)
    result = run("verify", model)
    assert result.exit_code == 1
    assert "isomap: 1 of 30 rows are placed elsewhere" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "witness", [5, {}, {"rows": [[1.0]], "places": [[1.0]]}, {"rows": "x", "places": "y"}]
)
def test_a_damaged_witness(run, model, witness):
    changed(model, lambda extra: extra.update(witness=witness))
    result = run("verify", model)
    assert result.exit_code in (1, 2)
    assert "its witness must be rows" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_without_one(run, model):
    changed(model, lambda extra: extra.pop("witness"))
    result = run("verify", model)
    assert result.exit_code == 2
    assert "was saved without them" in result.stderr


def test_a_model_that_grew_is_verified_as_it_is_now(run, model, flats, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text(
        "flat,rooms,area,heating,quarter\nnew1,2,44,oil,north\nnew2,4,61,gas,south\n", encoding="utf-8"
    )
    grown = tmp_path / "grown.skops"
    result = run("update", model, new, "-o", tmp_path / "grown.csv", "--save", grown)
    assert result.exit_code == 0, result.stderr
    assert run("verify", grown).exit_code == 0
    assert "30 rows" in run("verify", grown).stdout


def test_a_model_without_one_has_one_after_an_update(run, model, tmp_path):
    changed(model, lambda extra: extra.pop("witness"))
    new = tmp_path / "new.csv"
    new.write_text(
        "flat,rooms,area,heating,quarter\nn1,2,44,oil,north\nn2,4,61,gas,south\n", encoding="utf-8"
    )
    assert run("update", model, new, "-o", tmp_path / "grown.csv", "--save", model).exit_code == 0
    assert run("verify", model).exit_code == 0
