"""What the package promises from the outside: names, lightness, layers, true documents."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import isentropic
from isentropic.registry import METHODS, methods_table
from processes import in_fresh_process, reached

PACKAGE = Path(isentropic.__file__).parent
PROJECT = PACKAGE.parents[1]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_every_public_name_loads_and_no_other_is_exported():
    for name in isentropic.__all__:
        assert getattr(isentropic, name) is not None
    assert dir(isentropic) == sorted(isentropic.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Isomup'"):
        _ = isentropic.Isomup


@pytest.mark.parametrize("name", isentropic._SUBMODULES)
def test_a_public_subpackage_is_reached_by_its_name_alone(name):
    assert in_fresh_process(reached, f"isentropic.{name}") == f"isentropic.{name}"


def test_all_that_has_public_functions_is_a_public_subpackage():
    inner = {"cli", "dissimilarities", "embedding", "kernels", "methods", "objectives", "optim"}
    inner.add("tables")  # public under the name datasets
    folders = {path.parent.name for path in PACKAGE.glob("[!_]*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("[!_]*.py")}
    assert set(isentropic._SUBMODULES) == (folders | modules) - inner


def test_importing_the_package_is_light():
    heavy = ["numba", "sklearn", "numpy", "pandas"]
    script = f"import isentropic, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_submodule_shares_its_name_with_a_public_function():
    functions = {name for name in isentropic.__all__ if callable(getattr(isentropic, name))}
    modules = {path.stem for path in SOURCES if not path.stem.startswith("_")}
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert functions & (modules | packages) == set()


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_the_compiler_imports_numba_and_nothing_prints(path):
    if path.relative_to(PACKAGE).as_posix() not in ("kernels/_jit.py", "kernels/_compilers.py"):
        assert not any(module.split(".")[0] == "numba" for module in imported_modules(path))
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    called = {getattr(node.func, "id", "") for node in nodes if isinstance(node, ast.Call)}
    assert "print" not in called


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_state_their_purpose_and_stay_short(path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n") <= 450


def test_the_table_of_methods_is_the_registry():
    page = (PROJECT / "docs" / "methods.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- methods -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert shown is not None
    assert shown[1] == methods_table(), "say: make docs"


@pytest.mark.parametrize("page", ["README.md", "docs/methods.md"])
def test_files_named_in_the_docs_exist(page):
    text = (PROJECT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((PROJECT / page).parent / target).exists(), target


def test_the_version_is_said_once():
    citation = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {isentropic.__version__}\n" in citation
    assert f"## {isentropic.__version__}" in changelog


@pytest.mark.parametrize("name", METHODS)
def test_docstrings_name_the_reference_of_the_registry(name):
    method = METHODS[name]
    year = re.search(r"\((\d{4})\)", method.reference)
    assert year is not None
    assert year[1] in method.load().__doc__


def test_public_modules_export_what_they_say():
    for name in ("datasets", "distances", "divergences", "geodesics", "linalg", "neighbors"):
        module = import_module(f"isentropic.{name}")
        for exported in module.__all__:
            assert hasattr(module, exported)
