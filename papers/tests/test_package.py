"""The package of the papers: modules state their purpose and stay short, folders are not crowded."""

import ast
from pathlib import Path

import pytest

import isentropic_papers

PACKAGE = Path(isentropic_papers.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_state_their_purpose_and_stay_short(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert text.count("\n") <= 450
    called = {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert "print" not in called
    assert "numba" not in text


def test_folders_are_not_crowded():
    folders = {path.parent for path in MODULES}
    assert {folder.name for folder in folders if len(list(folder.glob("[!_]*.py"))) > 15} == set()
