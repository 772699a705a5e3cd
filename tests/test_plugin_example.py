"""The example of a package that adds a method: it is listed, made, fitted, saved and loaded as ours are."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "plugin_example"
SCRIPT = """
import sys
import numpy as np
import isentropic

X = np.random.default_rng(0).normal(size=(30, 4)) * [1, 5, 2, 9]
model = isentropic.make("my-method")
Z = model.fit_transform(X)
np.testing.assert_allclose(Z, (X - X.mean(axis=0))[:, [3, 1]])
isentropic.save(model, sys.argv[1])
again = isentropic.load(sys.argv[1])
assert type(again) is type(model)
np.testing.assert_array_equal(again.transform(X[:5] + 1), model.transform(X[:5] + 1))
"""


@pytest.fixture
def installed(tmp_path):
    """The environment of a process in which the example is installed."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "widest_features-1.0.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    points = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in lines.items())
        for group, lines in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(info.parent), str(EXAMPLE)])}


def run(environment, *arguments):
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_made_fitted_saved_and_loaded(installed, tmp_path):
    run(installed, "-c", SCRIPT, str(tmp_path / "model.isentropic"))


def test_it_is_listed(installed):
    assert "my-method" in run(installed, "-m", "isentropic", "methods")


def test_its_estimator_may_be_imported_first(installed):
    run(installed, "-c", "import widest_features.estimator, isentropic; isentropic.make('my-method')")
