"""``make quick``: which tests are about what has changed since a commit.

Prints paths for pytest: the test files that changed, the doctests of the modules that did, and of each such
module the tests named after it, or else those of its folder that speak of it.
"""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
SOURCES = "src/isentropic/"


def changed_files(base: str) -> list[str]:
    """Paths of Python files that differ from ``base``, those that git does not know yet included."""
    known = _git("diff", "--name-only", "--diff-filter=d", base, "--", "*.py")
    return known + _git("ls-files", "--others", "--exclude-standard", "--", "*.py")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def about(path: str) -> list[str]:
    """Of one changed file.

    >>> about("tests/test_io.py"), about("benchmarks/sdd.py")
    (['tests/test_io.py'], [])
    >>> about("src/isentropic/linalg/signs.py")
    ['src/isentropic/linalg/signs.py', 'tests/linalg/test_signs.py']
    """
    if path.startswith("tests/") and Path(path).name.startswith("test_"):
        return [path]
    if not path.startswith(SOURCES):
        return []
    module = Path(path.removeprefix(SOURCES))
    name = module.stem.strip("_")
    here = sorted((TESTS / module.parent).glob("test_*.py"))
    named = [test for test in here if test.stem in (f"test_{name}", f"test_{name}_command")]
    found = named or [test for test in here if name in test.read_text(encoding="utf-8")]
    return [path, *(test.relative_to(PROJECT).as_posix() for test in found)]


if __name__ == "__main__":
    (base,) = sys.argv[1:]
    print(*dict.fromkeys(test for path in changed_files(base) for test in about(path)))  # noqa: T201
