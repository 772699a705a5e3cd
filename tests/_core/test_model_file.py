"""Files of models made of parts: what is written, and what is refused."""

import json
import re
import zipfile

import pytest
from isentropic._core.models.checksum import write_checksum

import cases
from isentropic._core.errors import FileFormatError
from isentropic._core.models.io import load, save
from isentropic._core.models.model_file import buildable
from isentropic._core.state import uses_parts
from isentropic.registry import METHODS
from model_fuzz import rezipped

OF_PARTS = [name for name, method in METHODS.items() if uses_parts(method.load())]


def refusal(path):
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_no_two_parts_that_files_may_hold_share_a_name():
    found = {}
    for name in OF_PARTS:
        for part, kind in buildable(METHODS[name].load()).items():
            assert found.setdefault(part, kind) is kind, part


@pytest.mark.parametrize("name", OF_PARTS)
def test_a_file_of_parts_names_the_method_and_no_module(name, tmp_path):
    save(cases.case(name).fitted, tmp_path / "model.isentropic")
    with zipfile.ZipFile(tmp_path / "model.isentropic") as archive:
        text = archive.read("model.json").decode()
        assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
    header = json.loads(text)
    assert METHODS[header["model"]["method"]].target == METHODS[name].target
    assert {"format", "versions", "extra", "model", "parts"} == set(header)
    assert not re.search(r"isentropic\.|sklearn\.|numpy\.|__", text.replace('"isentropic":', ""))


def test_the_same_model_gives_the_same_bytes(tmp_path):
    fitted = cases.case("t-sne").fitted
    for name in ("one", "two"):
        save(fitted, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_arrays_and_parts_that_a_model_shares_are_one_after_loading(tmp_path):
    save(cases.case("isomap").fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded._map.graph is loaded.graph_
    save(cases.case("t-sne").fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded._map.layout.Z is loaded.embedding_


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_compressed_member_is_refused(compression, tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("t-sne").fitted, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with open(path, "r+b") as file:
        write_checksum(file)
    assert "has members that are larger than the file" in refusal(path)


def test_a_part_refers_to_earlier_ones_only(tmp_path):
    path = tmp_path / "model.isentropic"
    save(cases.case("t-sne").fitted, path)

    def own_part(members):
        model = json.loads(members["model.json"])
        fields = model["parts"][1]["fields"]
        fields.update({name: {"part": 1} for name in fields})
        members["model.json"] = json.dumps(model).encode()

    rezipped(path, own_part)
    assert "must be an earlier part" in refusal(path)
