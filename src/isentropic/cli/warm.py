"""``isentropic warm``: compile now what the first commands would compile."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .._core.errors import require, require_one_of
from .shared.options import Jobs, Quiet
from .shared.process import computing
from .shared.terminal import one_bar

Names = Annotated[
    str | None,
    typer.Option(
        "--methods", "-m", metavar="A,B", help="Methods to compile, or all; by default those of a report."
    ),
]


def main(methods: Names = None, jobs: Jobs = None, quiet: Quiet = False) -> None:
    """Compile the kernels of methods, measures and reports, so that no later command waits for it.

    Kernels compile when they are first called, and are kept in the user's cache folder or in NUMBA_CACHE_DIR.
    This takes a process for each core. It does nothing that a later command would not do by itself.

    \b
    Examples:
      isentropic warm
      isentropic warm --methods isomap,sdd
      isentropic warm --methods all
    """
    began = time.perf_counter()
    names = _names(methods)
    with one_bar(shown=not quiet), computing("the kernels"):
        from .._core.runtime import get_config
        from ..comparison.kernel_warmup import warm_up

        show = get_config().progress
        warm_up(names, n_jobs=jobs, on_done=show)
    if not quiet:
        typer.echo(f"Compiled kernels are ready ({time.perf_counter() - began:.0f} s).")


def _names(methods: str | None) -> tuple[str, ...] | None:
    """Names of methods that exist; None for those of a report."""
    if methods is None:
        return None
    from ..registry import METHODS

    names = [name.strip() for name in methods.split(",") if name.strip()]
    require(
        bool(names), "--methods", "names with commas between, or all", methods, "For instance: pca,isomap."
    )
    if names == ["all"]:
        return tuple(METHODS)
    for name in names:
        require_one_of("--methods", name, METHODS)
    return tuple(names)
