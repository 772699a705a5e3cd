"""isentropic verify: the same bits, other bits, and files that hold nothing to compare with."""

from __future__ import annotations

import json

import numpy as np
import pytest

import model_fuzz
from isentropic._core.models.saving import load_with_extra, save


@pytest.fixture
def model(run, flats, tmp_path):
    path = tmp_path / "model.isentropic"
    result = run(
        "embed", flats, "-m", "isomap", "-o", tmp_path / "map.csv", "--index", "flat", "--save", path
    )
    assert result.exit_code == 0, result.stderr
    return path


def changed(path, change):
    """The model again, with other reference outputs."""
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
        places = extra["reference_outputs"]["coordinates"]
        places[3][1] = float(np.nextafter(places[3][1], np.inf))

    changed(model, last_bit)
    result = run("verify", model)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: isomap: 1 of 30 rows are placed elsewhere than when the model")
    assert "may sum in another order" in result.stderr
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)
    assert run("verify", model, "-q").stderr == result.stderr
    told = run("verify", model, "--json")
    assert (json.loads(told.stdout)["differing"], told.stderr, told.exit_code) == (1, result.stderr, 1)


def test_more_than_rounding_is_told_as_such(run, model):
    def moved(extra):
        extra["reference_outputs"]["coordinates"][3][1] += 0.01

    changed(model, moved)
    assert "That is more than rounding: fit the model again, and save it here." in run("verify", model).stderr


def first_column(preparation, **change):
    preparation["columns"][0].update(change)


def swapped(preparation):
    columns = preparation["columns"]
    columns[:2] = columns[1::-1]


PREPARATIONS = {
    "centre": lambda p: p["centre"].__setitem__(0, p["centre"][0] + 1),
    "scale": lambda p: p["scale"].__setitem__(1, 2 * p["scale"][1]),
    "fill": lambda p: p["fill"].__setitem__(1, p["fill"][1] + 1e-9),
    "columns in another order": swapped,
    "a renamed column": lambda p: first_column(p, name="floors"),
    "a renamed level": lambda p: p["columns"][-1]["levels"].__setitem__(0, "coal"),
    "another way with holes": lambda p: p.update(missing="mean"),
    "another scaling": lambda p: p.update(scaling="minmax"),
    "another target": lambda p: p.update(target="heat"),
    "another index": lambda p: p.update(index=None),
    "more left out": lambda p: p.update(drop=["heat"]),
    "another metric": lambda p: p.update(metric="cosine"),
}
BROKEN = {
    "names of columns must be different": lambda p: first_column(p, name=p["columns"][1]["name"]),
    "columns must be features, and not": lambda p: first_column(p, name="flat"),
    "got something else ('kind')": lambda p: p["columns"][0].pop("kind"),
    "its preparation gives": lambda p: [p[key].pop(0) for key in ("columns", "fill", "centre", "scale")],
    "centre must be of shape": lambda p: p["centre"].append(0.0),
    "centre must be finite": lambda p: p["centre"].__setitem__(0, float("nan")),
    "scale must be finite": lambda p: p["scale"].__setitem__(0, float("inf")),
    "scale must be positive": lambda p: p["scale"].__setitem__(0, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("what", [*PREPARATIONS, *BROKEN])
def test_another_preparation_is_refused_wherever_it_would_be_used(run, model, flats, tmp_path, what):
    """Though the checksum of the file is right: it was computed anew."""
    change = (PREPARATIONS | BROKEN)[what]
    changed(model, lambda extra: change(extra["preparation"]))
    reason = "its preparation is not the one that its map was made with" if what in PREPARATIONS else what
    out = tmp_path / "out.csv"
    for command in (("verify",), ("transform", flats, "-o", out), ("update", flats, "-o", out)):
        result = run(command[0], model, *command[1:])
        assert result.exit_code == 1
        assert result.stderr.startswith(f"Error: {model} ")
        assert reason in result.stderr
        assert (len(result.stderr.splitlines()), result.stdout) == (1, "")
        assert "bug" not in result.stderr
        assert not out.exists()


def test_the_preparation_of_another_map_is_refused(run, model, flats, tmp_path):
    other = tmp_path / "other.isentropic"
    text = flats.read_text(encoding="utf-8").replace(",3", ",4")
    flats.write_text(text, encoding="utf-8")
    run("embed", flats, "-m", "isomap", "-o", tmp_path / "map.csv", "--index", "flat", "--save", other)
    given = {key: load_with_extra(other)[1][key] for key in ("preparation", "preparation_sha256")}
    changed(model, lambda extra: extra.update(given))
    assert "is not the one that its map was made with" in run("verify", model).stderr


def test_a_model_that_does_not_name_its_preparation_is_verified_with_a_warning(run, model):
    changed(model, lambda extra: extra.pop("preparation_sha256"))
    result = run("verify", model)
    assert result.exit_code == 0
    assert "so that only the map is verified. Save it again" in result.stderr
    assert "only the map is verified" in json.loads(run("verify", model, "--json").stdout)["warnings"][0]


@pytest.mark.parametrize(
    "reference", [5, {}, {"rows": [[1.0]], "coordinates": [[1.0]]}, {"rows": "x", "coordinates": "y"}]
)
def test_damaged_reference_outputs(run, model, reference):
    changed(model, lambda extra: extra.update(reference_outputs=reference))
    result = run("verify", model)
    assert result.exit_code in (1, 2)
    assert "its reference outputs must be rows" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_without_one(run, model):
    changed(model, lambda extra: extra.pop("reference_outputs"))
    result = run("verify", model)
    assert result.exit_code == 2
    assert "was saved without them" in result.stderr


def test_a_model_that_grew_is_verified_as_it_is_now(run, model, flats, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text(
        "flat,rooms,area,heating,quarter\nnew1,2,44,oil,north\nnew2,4,61,gas,south\n", encoding="utf-8"
    )
    grown = tmp_path / "grown.isentropic"
    result = run("update", model, new, "-o", tmp_path / "grown.csv", "--save", grown)
    assert result.exit_code == 0, result.stderr
    assert run("verify", grown).exit_code == 0
    assert "30 rows" in run("verify", grown).stdout


def test_a_model_without_one_has_one_after_an_update(run, model, tmp_path):
    changed(model, lambda extra: extra.pop("reference_outputs"))
    new = tmp_path / "new.csv"
    new.write_text(
        "flat,rooms,area,heating,quarter\nn1,2,44,oil,north\nn2,4,61,gas,south\n", encoding="utf-8"
    )
    assert run("update", model, new, "-o", tmp_path / "grown.csv", "--save", model).exit_code == 0
    assert run("verify", model).exit_code == 0


# ---- damaged files -------------------------------------------------------------------------------


def reworded(change):
    """A file whose ``model.json`` is changed, and whose checksum was computed anew."""

    def changed_file(path):
        model_fuzz.reworded(path, change)
        return path.read_bytes()

    return changed_file


EVIL = "evil\n\x1b]0;title\x07\x1b[2J"
DAMAGED = {
    "empty": lambda path: b"",
    "a pickle": lambda path: b"\x80\x04K\x03.",
    "text": lambda path: b"flat,rent\na,1\n",
    "cut off": lambda path: path.read_bytes()[:-3000],
    "a byte": lambda path: path.read_bytes()[:900] + b"\xff" + path.read_bytes()[901:],
    "behind the checksum": lambda path: path.read_bytes() + b"\n",
    "a byte, sealed": lambda path: model_fuzz.sealed(
        path.read_bytes()[:900] + b"\xff" + path.read_bytes()[901:]
    ),
    "zeros": lambda path: b"PK\x03\x04" + bytes(5000),
    "another method": reworded(lambda found: found["model"].update(method="os:system")),
    "a method that steers the terminal": reworded(lambda found: found["model"].update(method=EVIL)),
    "a part that steers the terminal": reworded(lambda found: found["parts"][0]["fields"].update({EVIL: 1})),
    "a name that steers the terminal": reworded(lambda found: found["extra"].update(method=EVIL)),
    "a long name": reworded(lambda found: found["extra"].update(method="x" * 10**6)),
    "a preparation of other columns": reworded(
        lambda found: found["extra"]["preparation"]["columns"][0].update(name="x" * 10**6)
    ),
    "a later format": reworded(lambda found: found.update(format=10**9, versions={"isentropic": EVIL})),
    "a number beyond doubles": reworded(
        lambda found: found["extra"]["reference_outputs"].update(rows=[[10**400] * 4])
    ),
    "deep rows": reworded(lambda found: found["extra"].update(reference_outputs=deep(300))),
    "a deep preparation": reworded(lambda found: found["extra"].update(preparation={"a": deep(300)})),
    "no extra": reworded(lambda found: found.update(extra={})),
    "coordinates of other rows": reworded(lambda found: found["model"]["fitted"].update(embedding_=None)),
}


def deep(levels):
    value = 1.0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_one_line_and_exit_code_1(run, model, flats, tmp_path, what):
    model.write_bytes(DAMAGED[what](model))
    out = tmp_path / "out.csv"
    for command in (("verify",), ("transform", flats, "-o", out), ("update", flats, "-o", out)):
        result = run(command[0], model, *command[1:])
        assert result.exit_code == 1, result.output
        assert result.stderr.startswith(f"Error: {model} ")
        assert (len(result.stderr.splitlines()), result.stdout) == (1, "")
        assert len(result.stderr) < 1000 + len(str(model))
        assert "\x1b" not in result.stderr
        assert "Traceback" not in result.stderr
        assert "bug" not in result.stderr
        assert not out.exists()
