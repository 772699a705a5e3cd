"""Models that earlier versions saved still load, and place rows where they did."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import isentropic
import model_fixtures
from cases import METHODS_AND_STUB, lacking
from isentropic._core.state import estimator_named
from model_fuzz import reworded

KNOWN = json.loads(model_fixtures.PLACES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_saved_model_places_rows_as_it_did(name):
    if name in METHODS_AND_STUB and lacking(name):
        pytest.skip(lacking(name))
    model = isentropic.load(model_fixtures.FOLDER / f"{name}.isentropic")
    assert type(model) is estimator_named(name)
    expected = np.array(KNOWN[name])
    # the last bits are those of another processor's libraries
    assert_allclose(
        model_fixtures.placed(model, name), expected, rtol=0, atol=1e-9 * np.ptp(model.embedding_)
    )


def test_a_parameter_that_is_younger_than_the_file_has_its_default(tmp_path):
    path = tmp_path / "model.isentropic"
    model = isentropic.ParameterFreeSDD(max_iter=3).fit(np.eye(5))
    isentropic.save(model, path)

    reworded(path, lambda found: found["model"]["parameters"].pop("optimizer"))
    assert isentropic.load(path).get_params() == model.get_params()


def test_every_method_has_a_saved_model():
    """A new method adds its own: ``python tests/model_fixtures.py``. A method that leaves keeps its file."""
    missing = sorted(set(model_fixtures.names()) - set(KNOWN))
    assert not missing, f"{missing} have no saved model: say .venv/bin/python tests/model_fixtures.py"
    files = {path.stem for path in model_fixtures.FOLDER.glob("*.isentropic")}
    assert files == set(KNOWN), f"{sorted(files ^ set(KNOWN))}: a file or its line of places.json is missing"
