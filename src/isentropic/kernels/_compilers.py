"""What numba makes of kernels and helpers, with less: extensions of its compiler.

numba makes machine code of every function, and functions around it for Python and for C. Of our helpers
kernels need the optimized code alone, and nothing of ours is called from C: a third of all compilation. These
are parts of numba that a later version may change, so that they are for known versions alone.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering


class _KernelCode(Lower):
    def create_cfunc_wrapper(self) -> None:
        """Nothing: C does not call it."""


class _HelperCode(_KernelCode):
    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Nothing: Python calls another one, see ``_Helper`` of ``_jit``."""


class HelperLibrary(JITCodeLibrary):
    """The optimized code of a helper, to be linked into kernels."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    codegen = property(lambda self: self)  # of which numba wants only:

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: the kernels that it is linked into have it, see :class:`_KernelLowering`."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    _name = "kernel_lowering"
    lowering_class = _KernelCode

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        for name in environments(state.library):
            state.targetctx.codegen().set_env(name, lookup_environment(name))
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(NativeLowering):
    _name = "helper_lowering"
    lowering_class = _HelperCode

    def run_pass(self, state: Any) -> bool:
        state.library = HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        return True


def environments(library: JITCodeLibrary) -> list[str]:
    """Names of the variables for the Python objects of a function and of what it inlines."""
    names = (variable.name for variable in library._final_module.global_variables)
    return [name for name in names if name.startswith("_ZN08NumbaEnv") and lookup_environment(name)]


class KernelCompiler(CompilerBase):
    lowering: type[NativeLowering] = _KernelLowering

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        ours = {NativeLowering: self.lowering}
        passes.passes = [(ours.get(one, one), what) for one, what in passes.passes]
        passes.finalize()
        return [passes]


class HelperCompiler(KernelCompiler):
    lowering = _HelperLowering
