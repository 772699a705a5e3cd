"""Models that earlier versions saved still load, and place rows where they did."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import isentropic
from isentropic._core.state import uses_parts
from isentropic.registry import METHODS
from model_fuzz import rezipped

FOLDER = Path(__file__).parent / "models_0_1_0"
KNOWN = json.loads((FOLDER / "places.json").read_text(encoding="utf-8"))


def is_outdated(name):
    """Whether its file is of a class that is made of parts now; that of Selected holds an Isomap."""
    return uses_parts(METHODS["isomap" if name == "selected" else name].load())


@pytest.mark.parametrize("name", sorted(KNOWN["places"]))
def test_a_model_of_version_0_1_0_places_rows_as_it_did_or_says_what_to_do(name):
    if is_outdated(name):
        words = "as earlier versions saved it. Fit the model again, and save it with this version"
        with pytest.raises(isentropic.FileFormatError, match=words):
            isentropic.load(FOLDER / f"{name}.skops")
        return
    model = isentropic.load(FOLDER / f"{name}.skops")
    expected = np.array(KNOWN["places"][name])
    # the last bits are those of another processor's libraries
    assert_allclose(model.transform(KNOWN["new"]), expected, rtol=0, atol=1e-9 * np.ptp(model.embedding_))


def test_a_parameter_that_is_younger_than_the_file_has_its_default(tmp_path):
    path = tmp_path / "model.isentropic"
    model = isentropic.ParameterFreeSDD(max_iter=3).fit(np.eye(5))
    isentropic.save(model, path)

    def without(members):
        header = json.loads(members["model.json"])
        del header["model"]["parameters"]["optimizer"]
        members["model.json"] = json.dumps(header).encode()

    rezipped(path, without)
    assert isentropic.load(path).get_params() == model.get_params()


def test_every_method_of_version_0_1_0_is_kept():
    assert set(KNOWN["places"]) - {"selected"} <= set(METHODS)
