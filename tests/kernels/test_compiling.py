"""Helpers are inlined by kernels, from the disk too, and become machine code only where Python calls them."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from isentropic.kernels import _jit
from isentropic.kernels._jit import kernel, parallel_kernel, rows

pytestmark = [
    pytest.mark.skipif(_jit.numba.config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(not _jit.IS_EXTENDED, reason="numba's own compiler"),
]


@kernel
def twice(x):
    if x < 0.0:
        raise ValueError("below zero")
    return 2.0 * x


@kernel
def add_twice(x, total):
    return total + twice(x)


@parallel_kernel
def doubled(X, out):
    for i in rows(len(X)):
        out[i] = add_twice(X[i], 1.0)
    return out


def machine_code(function):
    """Which of the signatures of a function is machine code."""
    made = function.overloads.values()
    return [one.target_context.codegen()._engine.is_symbol_defined(one.fndesc.llvm_func_name) for one in made]


def test_a_helper_is_inlined_and_no_machine_code():
    # The kernel may come from the disk, without its helpers.
    add_twice.compile((_jit.types.float64, _jit.types.float64))
    twice.compile((_jit.types.float64,))
    assert doubled(np.arange(3.0), np.empty(3)).tolist() == [1.0, 3.0, 5.0]
    assert machine_code(twice) == machine_code(add_twice) == [False]


def test_python_calls_a_helper_as_machine_code():
    assert (twice(2.0), add_twice(2.0, 0.5)) == (4.0, 4.5)
    assert machine_code(twice._called) == [True]
    assert doubled(np.ones(1), np.empty(1)).tolist() == [3.0]


def test_an_error_of_a_helper_arrives():
    for call in (lambda: twice(-1.0), lambda: doubled(np.full(1, -1.0), np.empty(1))):
        with pytest.raises(ValueError, match="below zero"):
            call()


@kernel
def without_a_type(x):
    return x.no_such_attribute


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled):
    """After what compiles and what does not."""
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(_jit.numba.TypingError):
            without_a_type(1.0)
        assert gc.isenabled() is enabled
        assert _jit._Kernel(lambda x: x + 1, {}, {"nopython": True})(1) == 2
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


HELPERS = """
from isentropic.kernels._jit import kernel, parallel_kernel, rows

@kernel
def _inner(x):
    if x == 5.0:
        raise ValueError("five")
    return np.sqrt(x) + 1.0 / x

@kernel
def outer(x):
    return _inner(x) + 0.1

@parallel_kernel
def first(X, out):
    for i in rows(len(X)):
        out[i] = outer(X[i])
    return out

@parallel_kernel
def second(X, out):
    for i in rows(len(X)):
        out[i] = outer(X[i])
    return out
"""
CALLS = """
import sys
import numpy as np
import helpers
X = np.arange(1.0, 4.0)
print(getattr(helpers, sys.argv[1])(X, np.empty(3)).tobytes().hex())
made = {**helpers.outer.stats.cache_hits, **helpers._inner.stats.cache_hits}
print(len(made))
try:
    getattr(helpers, sys.argv[1])(X + 4.0, np.empty(3))
except ValueError as error:
    print(error)
"""


def test_a_helper_on_the_disk_is_inlined_by_another_kernel(tmp_path):
    (tmp_path / "helpers.py").write_text("import numpy as np\n" + HELPERS)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": paths}
    results = []
    for name in ("first", "second", "second"):
        command = [sys.executable, "-c", CALLS, name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        results.append(done.stdout.split())
    values, found, errors = zip(*results, strict=True)
    assert len(set(values)) == 1
    assert found == ("0", "1", "0")  # the third finds its kernel, and asks for no helper
    assert errors == ("five",) * 3


_OTHER_VERSION = """
import numba
numba.version_info = numba.version_info._replace(short=(99, 0))
import numpy as np
from isentropic.kernels import _jit
from isentropic.neighbors import nearest_neighbors
assert not _jit.IS_EXTENDED
print(nearest_neighbors(np.arange(12.0).reshape(6, 2), 2).indices.tolist())
"""


def test_numba_of_another_version_compiles_as_it_does(tmp_path):
    """What is extended of its compiler may be other things there."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", _OTHER_VERSION]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[[1, 2], [0, 2], [1, 3], [2, 4], [3, 5], [4, 3]]", done.stderr
