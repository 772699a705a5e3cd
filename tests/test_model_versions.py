"""Models that earlier versions saved still load, and place rows where they did."""

import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_allclose

import isentropic
from isentropic.registry import METHODS

FOLDER = Path(__file__).parent / "models_0_1_0"
KNOWN = json.loads((FOLDER / "places.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(KNOWN["places"]))
def test_a_model_of_version_0_1_0_places_rows_as_it_did(name):
    model = isentropic.load(FOLDER / f"{name}.skops")
    expected = np.array(KNOWN["places"][name])
    # the last bits are those of another processor's libraries
    assert_allclose(model.transform(KNOWN["new"]), expected, rtol=0, atol=1e-9 * np.ptp(model.embedding_))


def test_a_parameter_that_is_younger_than_the_file_has_its_default():
    model = isentropic.load(FOLDER / "parameter-free-sdd.skops")
    with ZipFile(FOLDER / "parameter-free-sdd.skops") as archive:
        assert "optimizer" not in archive.read("schema.json").decode()
    assert model.optimizer is None
    assert model.get_params().keys() == isentropic.ParameterFreeSDD().get_params().keys()


def test_a_parameter_that_is_no_more_is_dropped_where_it_did_nothing_and_refused_where_it_did(tmp_path):
    file = FOLDER / "entropic-isomap.skops"
    assert "adaptive" not in vars(isentropic.load(file))
    with ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    schema["content"]["content"]["adaptive"]["content"] = "true"
    with ZipFile(tmp_path / "adaptive.skops", "w") as archive:
        for name, content in (members | {"schema.json": json.dumps(schema).encode()}).items():
            archive.writestr(name, content)
    with pytest.raises(isentropic.FileFormatError, match=r"its adaptive is True, which.*Fit the model again"):
        isentropic.load(tmp_path / "adaptive.skops")


def test_every_method_of_version_0_1_0_is_kept():
    assert set(KNOWN["places"]) - {"selected"} <= set(METHODS)
