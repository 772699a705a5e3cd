"""Files of models made of parts: what is written, and what is refused."""

import json
import re
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import cases
import model_fuzz
from isentropic._core.errors import FileFormatError
from isentropic._core.models.model_file import buildable
from isentropic._core.models.saving import load, save
from isentropic._core.state import estimator_named
from isentropic.registry import METHODS
from model_fuzz import reworded

NAMES = [*METHODS, "selected"]


def refusal(path):
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_no_two_parts_that_files_may_hold_share_a_name():
    found = {}
    for name in NAMES:
        for part, kind in buildable(estimator_named(name)).items():
            assert found.setdefault(part, kind) is kind, part


@pytest.mark.parametrize("name", NAMES)
def test_a_file_names_the_method_and_no_module(name, tmp_path):
    save(cases.case(name).fitted, tmp_path / "model.isentropic")
    with zipfile.ZipFile(tmp_path / "model.isentropic") as archive:
        text = archive.read("model.json").decode()
        assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
    header = json.loads(text)
    assert estimator_named(header["model"]["method"]) is estimator_named(name)
    assert {"format", "versions", "extra", "model", "parts"} == set(header)
    assert not re.search(r"isentropic\.|sklearn\.|numpy\.|__", text.replace('"isentropic":', ""))


@pytest.mark.parametrize("name", ["t-sne", "selected", "parametric"])
def test_the_same_model_gives_the_same_bytes(name, tmp_path):
    fitted = cases.case(name).fitted
    for copy in ("one", "two"):
        save(fitted, tmp_path / copy)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    save(load(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_arrays_and_parts_that_a_model_shares_are_one_after_loading(tmp_path):
    save(cases.case("isomap").fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded._map.graph is loaded.graph_
    save(cases.case("t-sne").fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded._map.layout.Z is loaded.embedding_


def test_a_model_within_a_model_comes_back_whole(tmp_path):
    fitted, path = cases.case("selected").fitted, tmp_path / "model.isentropic"
    save(fitted, path)
    loaded = load(path)
    assert repr(loaded) == repr(fitted)
    assert repr(loaded.best_estimator_) == repr(fitted.best_estimator_)
    assert loaded.selection_ == fitted.selection_
    new = np.random.default_rng(0).normal(size=(4, fitted.n_features_in_))
    assert_array_equal(loaded.best_estimator_.transform(new), fitted.transform(new))
    found = json.loads(model_fuzz.members_of(path)["model.json"])
    inner = [part["method"] for part in found["parts"] if "method" in part]
    assert inner == ["isomap", "isomap"]  # the one that was given, and the one that was chosen


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("compressed", ["model.json", "0.npy", "all"])
def test_a_compressed_member_is_refused(compression, compressed, tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("t-sne").fitted, path)
    members = model_fuzz.members_of(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            stored = compressed not in (name, "all")
            archive.writestr(name, content, zipfile.ZIP_STORED if stored else compression)
        archive.comment = model_fuzz.MARK + bytes(model_fuzz.DIGITS)
    path.write_bytes(model_fuzz.sealed(path.read_bytes()))
    assert "has members that are larger than the file" in refusal(path)


@pytest.mark.parametrize("number", [1, 2, -1, 10**9, 2**70, True, False, 0.0, "0", None, [0]], ids=str)
def test_a_part_refers_to_earlier_ones_only(number, tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("t-sne").fitted, path)

    def own_part(found):
        fields = found["parts"][1]["fields"]
        fields.update({name: {"part": number} for name in fields})

    reworded(path, own_part)
    assert "must be an earlier part" in refusal(path)


def test_parts_in_a_circle_are_refused(tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("selected").fitted, path)
    inner = "estimator"

    def circle(found):
        numbers = [number for number, part in enumerate(found["parts"]) if "method" in part]
        for here, there in zip(numbers, reversed(numbers), strict=True):
            model = json.loads(json.dumps(found["model"]))
            model["parameters"][inner] = {"part": there}
            found["parts"][here] = model

    reworded(path, circle)
    assert "must be an earlier part" in refusal(path)


def test_parts_in_another_order_are_refused(tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("isomap").fitted, path)
    reworded(path, lambda found: found["parts"].reverse())
    assert "must be an earlier part" in refusal(path)
