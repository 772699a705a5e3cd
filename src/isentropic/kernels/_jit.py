"""The only module that imports numba.

``kernel`` compiles a helper, ``parallel_kernel`` a loop over :data:`rows` that Python calls. Both are
kept on disk, keep the meaning of NaN and infinity, and compile on first use.

The process that compiles a kernel runs another copy of it than those that load it from disk: the optimiser
has seen the first one once, the second one twice. Both must give the same bits, so helpers are always
inlined, and quotients stay quotients.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite.binding import Linkage
from numba.core import funcdesc
from numba.core.caching import FunctionCache
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .._core.cache import SUFFIX, cache_folder, keep, read_cached
from .._core.runtime import worker_threads

# Reassociation and FMA are welcome; NaN and inf keep their meaning.
_FLAGS = {"nsz", "contract", "afn", "reassoc"}

rows = numba.prange

# numba's fallback layer "workqueue" aborts the process when two threads run parallel kernels.
_one_at_a_time = threading.RLock()
_layer_is_threadsafe = False

_FOLDER = Path(__file__).parent

_process = os.getpid()
_most_threads: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009 (numba sets it at run time)


# ---- compiling ---------------------------------------------------------------------------------


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper, which is inlined wherever a kernel calls it."""
    return _compiled(function, forceinline=True)


def parallel_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that loops over :data:`rows`, safe to call from several threads."""
    compiled = _compiled(function, parallel=True)

    @wraps(function)
    def call(*args: Any) -> Any:
        with threadsafe():
            return compiled(*args)

    return call


def choice(number: int) -> tuple[bool, ...]:
    """A number from 1 that kernels know when they are compiled: the length of a tuple, part of its type.

    Of ``if len(argument) == 1: ...`` and so on, what is compiled for a choice has the branch of it alone.
    """
    return (True,) * number


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled = numba.njit(fastmath=_FLAGS, **options)(function)
    if hasattr(compiled, "enable_caching"):  # not with the JIT off
        compiled._cache = KernelCache(function)
    return compiled


def _symbol(module: str | None, name: str) -> str:
    """How numba names a function in machine code: of ours, as if its module stood in no folder of kernels.

    What LLVM makes of a function depends, in last bits, on the names of those that it calls. So a kernel that
    moves to another folder gives the numbers that it gave.
    """
    folder, _, own = (module or "").rpartition(".")
    return _numbas_symbol(f"{__package__}.{own}" if folder.startswith(f"{__package__}.") else module, name)


_numbas_symbol = funcdesc.qualifying_prefix
funcdesc.qualifying_prefix = _symbol


def _optimize(library: Any) -> None:
    """Make the body of a parallel loop the kernel's own, then optimize as numba does.

    numba compiles the body first, in a library of its own, and links a copy into the kernel. Where the copy
    is a weak symbol, the process that compiles runs the first one, and a process that loads the kernel from
    disk runs the copy, which was optimized twice. Their last bits differ. With a private copy both run it.
    """
    if "GufuncWrapper" not in library.name:
        for function in library._final_module.functions:
            is_copy = function.linkage in (Linkage.linkonce_odr, Linkage.weak_odr)
            if is_copy and "__numba_parfor_gufunc" in function.name and not function.is_declaration:
                function.linkage = Linkage.internal
    _numbas_optimize(library)


_numbas_optimize = CPUCodeLibrary._optimize_final_module
CPUCodeLibrary._optimize_final_module = _optimize  # type: ignore[method-assign]


# ---- keeping what was compiled -----------------------------------------------------------------


class KernelCache(FunctionCache):
    """A file for each function and signature, named by all that the machine code depends on.

    It holds the checksum of its content and its name. Nothing is ever stale, and there is no index that two
    processes could write at the same time.
    """

    def __init__(self, py_func: Callable[..., Any]) -> None:  # not numba's, which looks for a folder
        self._py_func = py_func
        self._file = Path(py_func.__code__.co_filename)
        # Now, while the file is what was imported: it may be edited before the kernel is compiled.
        self._source = source_digest(self._file) if self._file.is_file() else None
        self.enable()

    @property
    def cache_path(self) -> str | None:
        folder = self._folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        """Nothing to do: what has another content has another name."""

    def _folder(self) -> Path | None:
        return cache_folder(getattr(numba.config, "CACHE_DIR"))  # noqa: B009 (numba sets it at run time)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        name, folder = self._file_name(sig, target_context.codegen()), self._folder()
        if not self._enabled or name is None or folder is None:
            return None
        data = read_cached(folder, name)
        return None if data is None else CompileResult._rebuild(target_context, *pickle.loads(data))

    def _save_overload(self, sig: Any, data: Any) -> None:
        name, folder = self._file_name(sig, data.codegen), self._folder()
        can_keep = not data.library.has_dynamic_globals and all(lifted.can_cache for lifted in data.lifted)
        if self._enabled and can_keep and name is not None and folder is not None:
            keep(folder, name, dumps(data._reduce()))

    def _file_name(self, sig: Any, codegen: Any) -> str | None:
        line = self._py_func.__code__.co_firstlineno
        key = repr((_versions(), self._source, line, self._index_key(sig, codegen)))
        if self._source is None or " at 0x" in key:
            return None  # has no file, or takes a function: another process could not know it again
        digest = hashlib.sha256(key.encode()).hexdigest()[:32]
        return f"{self._file.stem}.{self._py_func.__name__}-{digest}{SUFFIX}"


@cache
def _versions() -> tuple[Any, ...]:
    """What else the machine code depends on; numba's key has the processor."""
    settings = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "LLVM_REFPRUNE_FLAGS")
    of_numba = (getattr(numba.config, name, None) for name in settings)
    return sys.version, numba.__version__, llvmlite.__version__, *map(str, of_numba)


@cache
def source_digest(source: Path) -> str:
    """Digest of a file and of the kernels that it imports, and so on: compiled code inlines them."""
    folder = _package_of(source)
    found, open_ends = {source}, [source]
    while open_ends:
        new = {path for path in _imported_files(open_ends.pop()) if folder in path.parents} - found
        found |= new
        open_ends += new
    parts = (
        path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest()
        for path in sorted(found)
    )
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _package_of(source: Path) -> Path:
    """Our kernels, which use nothing above them; of another file the outermost package that it is in."""
    if _FOLDER in source.parents:
        return _FOLDER
    folder = source.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@cache
def _imported_files(source: Path) -> frozenset[Path]:
    """Files that a file imports by ``from .name import``, at any number of dots."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = source.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            found.update({base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)})
    return frozenset(path for path in found if path.is_file())


# ---- threads -----------------------------------------------------------------------------------


@contextmanager
def threadsafe() -> Iterator[None]:
    """Take turns with other threads while the threading layer is, or may turn out to be, workqueue."""
    global _layer_is_threadsafe
    _recover_from_fork()
    if _layer_is_threadsafe:
        yield
        return
    with _one_at_a_time:
        yield
        _layer_is_threadsafe = _layer_in_use() not in (None, "workqueue")


def _layer_in_use() -> str | None:
    try:
        return str(numba.threading_layer())
    except ValueError:  # no parallel kernel has run yet
        return None


@contextmanager
def threads(n_jobs: int | None) -> Iterator[int]:
    """Run the kernels of a ``with`` block on the threads that ``n_jobs`` means."""
    _recover_from_fork()
    before = numba.get_num_threads()
    count = min(worker_threads(n_jobs), _most_threads)
    numba.set_num_threads(count)
    try:
        yield count
    finally:
        numba.set_num_threads(min(before, _most_threads))


def _recover_from_fork() -> None:
    """Make kernels work in a child of ``fork()``, which has none of the threads of its parent.

    The layers tbb and workqueue start others. GNU OpenMP cannot, and numba would end the process: there
    kernels run on one thread, with equal bits.
    """
    global _process, _one_at_a_time, _most_threads
    if os.getpid() == _process:
        return
    _process = os.getpid()
    _one_at_a_time = threading.RLock()  # a thread of the parent may hold the old one for ever
    if _layer_in_use() != "omp":
        return
    pool = import_module("numba.np.ufunc.omppool")
    if pool.openmp_vendor == "GNU":
        _most_threads = 1
        launch = ctypes.CFUNCTYPE(None, ctypes.c_int)(pool.launch_threads)
        launch(_most_threads)  # this process is the parent now, and new threads begin with one
        numba.set_num_threads(_most_threads)
