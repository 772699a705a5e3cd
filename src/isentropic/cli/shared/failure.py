"""What a command says when it fails, and its exit code: 1 failure, 2 usage, 130 Ctrl-C, 143 SIGTERM."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

import typer

from ..._core.errors import InvalidInputError, IsentropicError, printable
from .table_options import in_options

FAILURE, USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
INTERRUPTED_TEXT = "Interrupted. No file is half-written."
TERMINATED_TEXT = "Ended from outside. What is done is kept; no file is half-written."

_P = ParamSpec("_P")
_debug = False


def set_debug(on: bool) -> None:
    """Show tracebacks and the log from now on, or no longer."""
    global _debug
    _debug = on
    if on:
        import logging

        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("isentropic").setLevel(logging.DEBUG)


def debugging() -> bool:
    """Whether tracebacks are shown."""
    return _debug


def reported(command: Callable[_P, None]) -> Callable[_P, None]:
    """A command that ends in one line and an exit code instead of a traceback."""

    @functools.wraps(command)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            typer.echo(INTERRUPTED_TEXT, err=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            if _debug:
                import traceback

                typer.echo(traceback.format_exc(), err=True)
            text, code = _explain(error)
            typer.echo(f"Error: {shown(text)}", err=True)
            raise typer.Exit(code) from None

    return guarded


def shown(text: str) -> str:
    """A message as a terminal takes it: what names of files and columns hold cannot steer it."""
    return "\n".join(map(printable, text.splitlines()))


def _explain(error: Exception) -> tuple[str, int]:
    if isinstance(error, IsentropicError):
        return in_options(str(error)), USAGE if isinstance(error, InvalidInputError) else FAILURE
    if isinstance(error, MemoryError):
        return "The work does not fit into memory. Take fewer rows, or a method of lower cost.", FAILURE
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}.", FAILURE
    what = f"{type(error).__name__}: {error}"
    return f"{what}. This is a bug. Please report it with the output of 'isentropic --debug ...'.", FAILURE
