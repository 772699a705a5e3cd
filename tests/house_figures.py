"""Prints how the package is built: classes, calls, modules that take part, folders and lines.

    python tests/house_figures.py            all figures; the report takes a minute
    python tests/house_figures.py --static   only those that need no fit

``tests/test_layout.py`` holds the bounds.
"""

import argparse
import ast
import inspect
import re
import statistics
import sys
import tempfile
import textwrap
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "isentropic"
_FUNCTION = inspect.CO_OPTIMIZED  # a flag that code of modules and bodies of classes do not have


# ---- files -------------------------------------------------------------------------------------


def modules() -> list[Path]:
    """Files of the package, ``__init__.py`` included, relative to it."""
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def modules_by_folder() -> dict[str, int]:
    """How many modules a folder has, ``__init__.py`` included."""
    return dict(Counter(path.parent.as_posix() for path in modules()))


def repeated_names() -> dict[str, tuple[str, ...]]:
    """Names that two or more modules have, and the folders of these."""
    folders = defaultdict(list)
    for path in modules():
        if path.stem != "__init__":
            folders[path.stem].append(path.parent.as_posix())
    return {name: tuple(found) for name, found in sorted(folders.items()) if len(found) > 1}


def lines_of(path: Path) -> int:
    return (PACKAGE / path).read_text(encoding="utf-8").count("\n")


# ---- classes -----------------------------------------------------------------------------------


def classes_of_ours(estimator: type) -> list[type]:
    """The classes that an estimator is made of, itself included, scikit-learn's and Python's left out."""
    return [kind for kind in estimator.__mro__ if kind.__module__.partition(".")[0] == "isentropic"]


def class_counts() -> dict[str, int]:
    """Of every line of the registry."""
    from isentropic.registry import METHODS

    return {name: len(classes_of_ours(line.load())) for name, line in METHODS.items()}


def called_on_self(function: Callable[..., Any]) -> set[str]:
    """Names of methods that the text of a function calls on ``self`` or ``super()``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    return {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and re.fullmatch(r"self|super\(\)", ast.unparse(node.func.value))
    }


# ---- what runs ---------------------------------------------------------------------------------


class Profile:
    """Functions of ours that run within the block, in all threads of this process; imports do not count."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()  # module, qualified name
        self.on_self: dict[type, set[tuple[str, str]]] = defaultdict(set)  # by the class of self
        self._importing: Counter[int] = Counter()  # modules that a thread is running

    def __enter__(self) -> "Profile":
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    @property
    def modules(self) -> list[str]:
        return sorted({module for module, _ in self.functions})

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event not in ("call", "return"):
            return
        code: CodeType = frame.f_code
        if code.co_name == "<module>":
            self._importing[threading.get_ident()] += 1 if event == "call" else -1
            return
        module = frame.f_globals.get("__name__", "")
        is_ours = module.partition(".")[0] == "isentropic" and code.co_flags & _FUNCTION
        if event == "return" or not is_ours or self._importing[threading.get_ident()] > 0:
            return
        self.functions.add((module, code.co_qualname))
        if code.co_argcount and code.co_varnames[0] == "self":
            self.on_self[type(frame.f_locals["self"])].add((module, code.co_qualname))


def profile_of(estimator: Any) -> tuple[Profile, Profile]:
    """Of fit on two thirds of wine and transform of the others; kernels are compiled before."""
    from sklearn.base import clone

    from isentropic.datasets import load

    X = load("builtin:wine").X
    known, new = X[[i for i in range(len(X)) if i % 3]], X[::3]
    clone(estimator).fit(known).transform(new)
    with Profile() as fit:
        estimator.fit(known)
    with Profile() as transform:
        estimator.transform(new)
    return fit, transform


def profile_of_report() -> Profile:
    """Of ``isentropic report builtin:iris --preset quick``."""
    from isentropic.cli import app

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        command = ["report", "builtin:iris", "--preset", "quick", "--out", f"{folder}/iris.html"]
        with Profile() as found:
            app(command, standalone_mode=False)
        assert Path(folder, "iris.html").stat().st_size > 100_000
    return found


# ---- the figures -------------------------------------------------------------------------------


def print_files() -> None:
    paths, folders, twice = modules(), modules_by_folder(), repeated_names()
    lines = {path: lines_of(path) for path in paths}
    longest = max(lines, key=lambda path: lines[path])
    print(f"modules: {len(paths)} ({sum(path.stem != '__init__' for path in paths)} without __init__.py)")
    most = sorted(folders.items(), key=lambda item: -item[1])
    print(f"modules of a folder: at most {most[0][1]}; above 15: {_counts(n for n in most if n[1] > 15)}")
    print(f"module names that occur twice: {len(twice)}: {', '.join(twice)}")
    print(f"lines: {sum(lines.values()):,}; median of a module {statistics.median(lines.values()):.0f}; "
          f"longest {lines[longest]} ({longest})")  # fmt: skip


def print_classes() -> None:
    counts = class_counts()
    worst = sorted(counts.items(), key=lambda item: -item[1])
    print(f"classes of ours in an estimator: median {statistics.median(counts.values()):g}, "
          f"at most {worst[0][1]}; above 3: {sum(n > 3 for n in counts.values())} of {len(counts)} lines; "
          f"the most: {_counts(worst[:5])}")  # fmt: skip


def print_profiles() -> None:
    import isentropic
    from isentropic import TSNE, Isomap

    direct = called_on_self(TSNE.fit)
    for estimator in (Isomap(), TSNE()):
        name = type(estimator).__name__
        fit, transform = profile_of(estimator)
        both = sorted({*fit.modules, *transform.modules})
        print(f"{name}: fit and transform run functions of {len(both)} modules "
              f"(fit {len(fit.modules)}, transform {len(transform.modules)})")  # fmt: skip
        calls = {function for function in fit.on_self[type(estimator)] if not function[1].endswith(".fit")}
        places = {module for module, _ in calls}
        print(f"{name}.fit: {len(calls)} of its own methods run, of {len(places)} modules")
    print(f"TSNE.fit: {len(direct)} distinct calls on self in its text: {', '.join(sorted(direct))}")
    found = profile_of_report()
    print(f"isentropic {isentropic.__version__} report: functions of {len(found.modules)} modules")


def _counts(items: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in items) or "none"


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--static", action="store_true", help="only what needs no fit")
    given = options.parse_args()
    print_files()
    print_classes()
    if not given.static:
        print_profiles()
