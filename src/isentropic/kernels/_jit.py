"""The only module that imports numba, but for what extends its compiler.

``kernel`` compiles a helper, ``parallel_kernel`` a loop over :data:`rows` that Python calls. Both are
kept on disk, keep the meaning of NaN and infinity, and compile on first use. With a version of numba whose
compiler is known, a helper becomes machine code only where Python calls it: else it is optimized, and
inlined by the kernels that call it.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import pickle
import sys
from collections.abc import Callable
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite.binding import parse_bitcode
from llvmlite.ir import Constant, IntType
from numba.core import funcdesc, types
from numba.core.caching import FunctionCache
from numba.core.compiler import Compiler, CompilerBase, CompileResult, compile_result
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.extending import intrinsic

from .._core.cache import SUFFIX, cache_folder, claim, end_claim, keep, read_cached, source_digest
from .._core.thread_pool import run_rows, share, threads

__all__ = ["choice", "kernel", "parallel_kernel", "rows", "share", "threads"]

# Reassociation and FMA are welcome; NaN and inf keep their meaning.
_FLAGS = {"nsz", "contract", "afn", "reassoc"}

rows = range  # of a parallel kernel: each row by itself, on any thread

_KNOWN = range(61, 69)  # minor versions of numba whose compiler is extended: others take longer to compile
IS_EXTENDED = numba.version_info.short[0] == 0 and numba.version_info.short[1] in _KNOWN
if IS_EXTENDED:
    from ._compilers import HelperCompiler, HelperLibrary, KernelCompiler, environments


# ---- compiling ---------------------------------------------------------------------------------


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper, which is inlined wherever a kernel calls it."""
    return _compiled(_Helper if IS_EXTENDED else _Kernel, function, forceinline=True)


def parallel_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile the loops over :data:`rows` of a function, to run on the threads of :func:`threads`.

    A loop becomes a compiled function of its own, over blocks of rows. What stands before, between and behind
    the loops, where outputs are made and returned, is plain Python.
    """
    if getattr(numba.config, "DISABLE_JIT"):  # noqa: B009 (numba sets it at run time)
        return function
    _text_of(function.__code__.co_filename)  # now, while the file is what was imported
    made: list[Callable[..., Any]] = []

    @wraps(function)
    def call(*args: Any) -> Any:
        if not made:
            made.append(_with_compiled_loops(function))
        return made[0](*args)

    return call


def choice(number: int) -> tuple[bool, ...]:
    """A number from 1 that kernels know when they are compiled: the length of a tuple, part of its type.

    Of ``if len(argument) == 1: ...`` and so on, what is compiled for a choice has the branch of it alone.
    """
    return (True,) * number


def _compiled(form: type[_Kernel], function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if getattr(numba.config, "DISABLE_JIT"):  # noqa: B009 (numba sets it at run time)
        return function
    given = {"nopython": True, "boundscheck": None, "fastmath": _FLAGS}  # as of numba's njit
    return form(function, {}, given | options)


def _symbol(module: str | None, name: str) -> str:
    """How numba names a function in machine code: of ours, as if its module stood in no folder of kernels.

    What LLVM makes of a function depends, in last bits, on the names of those that it calls. So a kernel that
    moves to another folder gives the numbers that it gave.
    """
    folder, _, own = (module or "").rpartition(".")
    return _numbas_symbol(f"{__package__}.{own}" if folder.startswith(f"{__package__}.") else module, name)


_numbas_symbol = funcdesc.qualifying_prefix
funcdesc.qualifying_prefix = _symbol


# ---- loops over rows ---------------------------------------------------------------------------


@intrinsic
def _next_block(_typing: Any, taken: Any) -> Any:
    """``taken[0]``, which threads share, before it is counted up."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counter = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", counter, Constant(IntType(64), 1), "monotonic")

    return types.int64(taken), generate


_LOOP = """
def {name}(_taken, _n_rows, _size, {arguments}):
    _first = _next_block(_taken) * _size
    while _first < _n_rows:
        for _row in range(_first, min(_first + _size, _n_rows)):
            pass
        _first = _next_block(_taken) * _size
"""
_CALL = "_run_rows({name}, {n_rows}, {arguments})"


def _with_compiled_loops(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with each of its loops over rows as a compiled function, called by :func:`run_rows`."""
    definition = _definition_of(function)
    names = function.__globals__
    names.update(_next_block=_next_block, _run_rows=run_rows)
    for place, loop in enumerate(definition.body):
        n_rows = _number_of_rows(loop)
        if n_rows is not None:
            assert isinstance(loop, ast.For)
            name = f"_{definition.name}_{place}"
            arguments = ", ".join(_names_from_outside(loop, definition, place))
            compiled = _loop_function(loop, name, arguments)
            names[name] = _compiled(_Kernel, _defined(compiled, function), nogil=True, error_model="numpy")
            call = ast.parse(_CALL.format(name=name, n_rows=ast.unparse(n_rows), arguments=arguments))
            definition.body[place] = _placed(call.body[0], loop)
    if "rows" in _names(definition.body, ast.Load):
        raise SyntaxError(f"A loop over rows stands inside another statement of {function.__qualname__}.")
    return _defined(definition, function)


def _definition_of(function: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax tree of a function, without its decorators, at its lines of the file."""
    definition = _functions_of(function.__code__.co_filename)[function.__code__.co_firstlineno]
    definition.decorator_list = []
    return definition


@cache
def _functions_of(file: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by the line of their first decorator."""
    functions = (one for one in ast.parse(_text_of(file)).body if isinstance(one, ast.FunctionDef))
    return {min([one.lineno, *(mark.lineno for mark in one.decorator_list)]): one for one in functions}


@cache
def _text_of(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


def _number_of_rows(statement: ast.stmt) -> ast.expr | None:
    """The number of rows that a statement loops over; None where it is no such loop."""
    match statement:
        case ast.For(iter=ast.Call(func=ast.Name(id="rows"), args=[n_rows])):
            return n_rows
    return None


def _names_from_outside(loop: ast.For, definition: ast.FunctionDef, place: int) -> list[str]:
    """What a loop is given: arguments of the function, and what is set before the loop, if it uses them."""
    used, own = _names(loop.body, ast.Load), _names([loop], ast.Store)
    known = [argument.arg for argument in definition.args.args]
    known += [name for name in _names(definition.body[:place], ast.Store) if name not in known]
    return [name for name in known if name in used and name not in own]


def _names(statements: list[ast.stmt], context: type) -> list[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)]


def _loop_function(loop: ast.For, name: str, arguments: str) -> ast.FunctionDef:
    (function,) = ast.parse(_LOOP.format(name=name, arguments=arguments)).body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(function.body[1], ast.While)
    rows_of_block = function.body[1].body[0]
    assert isinstance(rows_of_block, ast.For)
    _placed(function, loop)
    rows_of_block.target, rows_of_block.body = loop.target, loop.body
    return function


def _placed(tree: ast.AST, place: ast.stmt) -> Any:
    """What stands at a line of the file, for tracebacks and the cache."""
    for node in ast.walk(tree):
        ast.copy_location(node, place)
    return tree


def _defined(definition: ast.FunctionDef, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a syntax tree defines, among the names of the module of another one."""
    made: dict[str, Any] = {}
    code = compile(ast.Module([definition], []), function.__code__.co_filename, "exec")
    exec(code, function.__globals__, made)
    found: Callable[..., Any] = made[definition.name]
    found.__module__ = function.__module__
    return found


# ---- keeping what was compiled -----------------------------------------------------------------


class KernelCache(FunctionCache):
    """A file for each function and signature, named by all that the machine code depends on.

    It holds the checksum of its content and its name. Nothing is ever stale, and there is no index that two
    processes could write at the same time.
    """

    is_claimed = True  # by the process that compiles it, so that others wait instead of doing the same

    def __init__(self, py_func: Callable[..., Any]) -> None:  # not numba's, which looks for a folder
        self._py_func = py_func
        self._file = Path(py_func.__code__.co_filename)
        # Now, while the file is what was imported: it may be edited before the kernel is compiled.
        self._source = source_digest(self._file) if self._file.is_file() else None
        self._claim: int | None = None
        self.enable()

    @property
    def cache_path(self) -> str | None:
        folder = self._folder()
        return None if folder is None else str(folder)

    def end(self) -> None:
        """Let other processes compile what this one has begun and not kept."""
        claimed, self._claim = self._claim, None
        end_claim(self._folder(), claimed)

    def flush(self) -> None:
        """Nothing to do: what has another content has another name."""

    def _folder(self) -> Path | None:
        return cache_folder(getattr(numba.config, "CACHE_DIR"))  # noqa: B009 (numba sets it at run time)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        name, folder = self._file_name(sig, target_context.codegen()), self._folder()
        if not self._enabled or name is None or folder is None:
            return None
        data = read_cached(folder, name)
        if data is None and self.is_claimed:
            self._claim = claim(folder, name)
            data = read_cached(folder, name)  # another process may have made it meanwhile
        return None if data is None else self._rebuilt(pickle.loads(data), target_context)

    def _save_overload(self, sig: Any, data: Any) -> None:
        name, folder = self._file_name(sig, data.codegen), self._folder()
        can_keep = not data.library.has_dynamic_globals and all(lifted.can_cache for lifted in data.lifted)
        if self._enabled and can_keep and name is not None and folder is not None:
            keep(folder, name, dumps(self._content(data)))

    def _content(self, made: Any) -> tuple[Any, ...]:
        return tuple(made._reduce())

    def _rebuilt(self, content: tuple[Any, ...], context: Any) -> CompileResult:
        return CompileResult._rebuild(context, *content)

    def _file_name(self, sig: Any, codegen: Any) -> str | None:
        line = self._py_func.__code__.co_firstlineno
        key = repr((type(self).__name__, _versions(), self._source, line, self._index_key(sig, codegen)))
        if self._source is None or " at 0x" in key:
            return None  # has no file, or takes a function: another process could not know it again
        digest = hashlib.sha256(key.encode()).hexdigest()[:32]
        return f"{self._file.stem}.{self._py_func.__name__}-{digest}{SUFFIX}"


class HelperCache(KernelCache):
    """The same for code that kernels inline."""

    is_claimed = False  # as part of them

    def _content(self, made: Any) -> tuple[Any, ...]:
        made.fndesc.typemap = made.fndesc.calltypes = None  # cannot be stored, and nobody needs them
        name, code = made.library.name, made.library._final_module.as_bitcode()
        found = map(lookup_environment, environments(made.library))
        others = [one for one in found if one.can_cache()]
        return name, code, made.fndesc, made.environment, made.signature, others

    def _rebuilt(self, content: tuple[Any, ...], context: Any) -> CompileResult:
        name, code, function, environment, signature, others = content
        library = HelperLibrary(context.codegen(), name)
        library._final_module = parse_bitcode(code)
        library._finalize_final_module()
        entry = context.get_executable(library, function, environment)
        return compile_result(
            typing_context=context.typing_context, target_context=context, entry_point=entry, library=library,
            signature=signature, objectmode=False, lifted=(), fndesc=function, environment=environment,
            referenced_envs=others,
        )  # fmt: skip


@cache
def _versions() -> tuple[Any, ...]:
    """What else the machine code depends on; numba's key has the processor."""
    settings = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "LLVM_REFPRUNE_FLAGS")
    of_numba = (getattr(numba.config, name, None) for name in settings)
    return sys.version, numba.__version__, llvmlite.__version__, *map(str, of_numba)


# ---- what Python and other kernels call ---------------------------------------------------------


class _Kernel(CPUDispatcher):
    """A function that Python calls, compiled for each combination of types of its arguments."""

    compiler: type[CompilerBase] = KernelCompiler if IS_EXTENDED else Compiler
    cache: type[KernelCache] = KernelCache

    def __init__(self, function: Callable[..., Any], names: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(function, names, options, self.compiler)
        self._cache = self.cache(function)

    def compile(self, sig: Any) -> Any:
        """Compile without Python's collector, which would search what is being made again and again."""
        is_on = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            self._cache.end()
            if is_on:
                gc.enable()


class _Helper(_Kernel):
    """A function that kernels inline; for Python there is another one, compiled if it is called."""

    compiler, cache = (HelperCompiler, HelperCache) if IS_EXTENDED else (Compiler, KernelCache)

    def __call__(self, *args: Any) -> Any:
        return self._called(*args)

    @cached_property
    def _called(self) -> _Kernel:
        return _Kernel(self.py_func, self.locals, self.targetoptions)
