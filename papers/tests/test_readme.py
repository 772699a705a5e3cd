"""The study that the README shows is found, runs and is met as soon as it is installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def fenced(language):
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return block


@pytest.fixture
def installed(tmp_path):
    """What pip makes of the two files of the README, on the path."""
    project = tomllib.loads(fenced("toml"))["project"]
    (tmp_path / "my_study.py").write_text(fenced("python"), encoding="utf-8")
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    ((group, points),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


def test_the_study_of_the_readme_runs(installed, tmp_path):
    program = "import sys; from isentropic.cli import run; sys.argv = sys.argv[1:]; run()"
    words = ["isentropic", "reproduce", "mine", "--out", str(tmp_path / "mine.html"), "--jobs", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], env=installed, capture_output=True, text=True, check=True
    )
    (chapter,) = json.loads(done.stdout)["chapters"]
    assert (chapter["source"], chapter["title"]) == ("mine", "My study")
    (table,) = chapter["tables"]
    assert (table["met"], table["compared"], table["failures"]) == (2, 2, [])
    assert "My study" in (tmp_path / "mine.html").read_text(encoding="utf-8")
