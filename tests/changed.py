"""``make quick``: which tests are about what has changed since a commit.

Prints what pytest shall run: test files that changed, and those that use a helper which did; of a changed
module its doctests, the tests named after it, or else those of its folder that speak of it, or else those of
the modules that use it; of a method the laws, scikit-learn's checks and what a fit leaves; and of the lines
of the registry the tests of all lines.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
SOURCES = "src/isentropic/"
PLUGIN = "papers/src/"
PACKAGE = PROJECT / SOURCES
OF_LINES = [
    "tests/test_registry.py",
    "tests/test_public.py",
    "tests/test_model_versions.py",
    "tests/_core/test_model_file.py",
]


def changed_files(base: str) -> list[str]:
    """Paths of Python files that differ from ``base``, those that git does not know yet included."""
    known = _git("diff", "--name-only", "--diff-filter=d", base, "--", "*.py")
    return known + _git("ls-files", "--others", "--exclude-standard", "--", "*.py")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def about(path: str) -> list[str]:
    """Of one changed file.

    >>> about("tests/_core/test_saving.py"), about("benchmarks/sdd.py"), about("tests/naive_degrees.py")
    (['tests/_core/test_saving.py'], [], ['tests/kernels/pairs/test_degrees.py'])
    >>> about("src/isentropic/linalg/eigen.py")
    ['src/isentropic/linalg/eigen.py', 'tests/linalg/test_eigen.py']
    >>> about("src/isentropic/methods/distance/multi_sdd.py")[1:3]
    ['tests/methods/distance/test_sdd.py', 'tests/methods/test_fitted_state.py']
    >>> about("src/isentropic/methods/distance/multi_sdd.py")[3]
    'tests/test_laws.py::test_every_method_keeps[multi-sdd-fitted-rows]'
    >>> found = about("src/isentropic/methods/local/npe.py")
    >>> "tests/test_contract.py::test_pandas_in_and_out[npe]" in found
    True
    >>> "tests/test_contract.py::test_scikit_learn_checks[NPE()-check_estimator_cloneable]" in found
    True
    >>> "tests/methods/test_fitted_state.py::test_a_method_declares_all_that_a_fit_sets[npe]" in found
    True
    >>> about("src/isentropic/methods/local/__init__.py")[1:] == OF_LINES
    True
    >>> about("src/isentropic/methods/local/neighborhoods.py")[1:]
    ['tests/methods/local/test_lle.py', 'tests/methods/local/test_ltsa.py', 'tests/methods/local/test_mvu.py']
    >>> about("papers/src/isentropic_papers/isomap/honest.py")[1:3]
    ['papers/tests/test_isomap_honest.py', 'papers/tests/test_isomap_thesis.py']
    """
    if path.startswith("tests/"):
        return [path] if Path(path).name.startswith("test_") else _relative(_users(Path(path).stem))
    if path.startswith("papers/"):
        return _of_plugin(path)
    if not path.startswith(SOURCES):
        return []
    module = Path(path.removeprefix(SOURCES))
    if module.parts[0] == "methods" and module.name == "__init__.py":
        return [path, *OF_LINES]
    found = [path, *_relative(sorted(set(_named(module) or _speaking(module) or _of_users(module))))]
    return [*found, *(test for test in _of_methods(module) if test.partition("::")[0] not in found)]


def _of_plugin(path: str) -> list[str]:
    """A test of the papers itself; of a module the tests that import from its folder."""
    if not path.startswith(PLUGIN):
        return [path]
    folder = ".".join(Path(path.removeprefix(PLUGIN)).parent.parts)
    tests = sorted((PROJECT / "papers" / "tests").glob("test_*.py"))
    return [path, *_relative([test for test in tests if f"from {folder}" in _text(test)])]


def _relative(tests: list[Path]) -> list[str]:
    return [test.relative_to(PROJECT).as_posix() for test in tests]


def _users(helper: str) -> list[Path]:
    """Test files that import a module of this folder."""
    statement = re.compile(rf"^\s*(import|from) {helper}\b", re.MULTILINE)
    return [test for test in sorted(TESTS.rglob("test_*.py")) if statement.search(_text(test))]


def _named(module: Path) -> list[Path]:
    name = module.stem.strip("_")
    here = TESTS / module.parent
    return [test for test in (here / f"test_{name}.py", here / f"test_{name}_command.py") if test.exists()]


def _speaking(module: Path) -> list[Path]:
    """Tests of the same folder or one above it that have the name of the module, or of what it offers."""
    names = [module.stem, *(name for name in _defined(module) if name[0] != "_")]
    word = re.compile(rf"\b({'|'.join(names)})\b")
    folders = [TESTS / folder for folder in (module.parent, *module.parent.parents) if folder.name]
    tests = (test for folder in folders for test in sorted(folder.glob("test_*.py")))
    return [test for test in tests if word.search(_text(test))]


def _of_users(module: Path, steps: int = 3) -> list[Path]:
    """Tests named after the modules that use this one, or after those that use these."""
    users = _importers(module)
    found = [test for user in users for test in _named(user)]
    return found or [test for user in users if steps for test in _of_users(user, steps - 1)]


def _importers(module: Path) -> list[Path]:
    """Modules that import this one, or its functions and classes from its folder."""
    folder, name, any_of = module.parent.name, module.stem, "|".join(_defined(module))
    far = rf"from \.+([\w.]+\.)?{folder}(\.{name} import| import (\([^)]*|.*)\b({name}|{any_of})\b)"
    found = []
    for other in sorted(PACKAGE.rglob("*.py")):
        statement = rf"from \.{name} import|{far}" if other.parent == PACKAGE / module.parent else far
        if other.stem != "__init__" and re.search(statement, _text(other)):
            found.append(other.relative_to(PACKAGE))
    return found


def _defined(module: Path) -> list[str]:
    nodes = ast.parse(_text(PACKAGE / module)).body
    return [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)] or [module.stem]


def _of_methods(module: Path) -> list[str]:
    """Tests of all methods, for those of a module; nothing is imported for a module that has none."""
    if module.parts[0] != "methods":
        return []
    import cases
    import laws
    import test_contract
    from methods import test_fitted_state

    target = ".".join(["isentropic", *module.with_suffix("").parts])
    names = [name for name in cases.NAMES if cases.METHODS_AND_STUB[name].module == target]
    kept = (f"{name} {law}".replace(" ", "-") for name in names for law in laws.LAWS)
    return [
        *(f"tests/test_laws.py::test_every_method_keeps[{each}]" for each in kept),
        *_by_name(test_contract, names),
        *_scikit_learn_checks([one for one in test_contract.ESTIMATORS if type(one).__module__ == target]),
        *_by_name(test_fitted_state, names),
    ]


def _by_name(tests: ModuleType, names: list[str]) -> Iterator[str]:
    """Tests that run for every name of a method."""
    path = Path(str(tests.__file__)).relative_to(PROJECT).as_posix()
    for test, function in vars(tests).items():
        for mark in getattr(function, "pytestmark", ()) if test.startswith("test_") else ():
            if mark.name == "parametrize" and mark.args[0] == "name":
                yield from (f"{path}::{test}[{name}]" for name in names if name in mark.args[1])


def _scikit_learn_checks(estimators: list) -> Iterator[str]:
    from sklearn.utils.estimator_checks import parametrize_with_checks

    mark = parametrize_with_checks(estimators)
    for each in mark.args[1]:
        ids = map(mark.kwargs["ids"], getattr(each, "values", each))
        yield f"tests/test_contract.py::test_scikit_learn_checks[{'-'.join(ids)}]"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    (base,) = sys.argv[1:]
    print(*dict.fromkeys(test for path in changed_files(base) for test in about(path)))  # noqa: T201
