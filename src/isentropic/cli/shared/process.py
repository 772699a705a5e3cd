"""A command as a process: when it began, how it fails, and how it is interrupted.

Exit codes: 0, 1 failure, 2 usage, 130 Ctrl-C, 143 SIGTERM. Bad input is told from a bug.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import typer

from ..._core.errors import InvalidInputError, IsentropicError, printable
from .table_options import in_options

if TYPE_CHECKING:
    import socket

_began: float | None = None


def start_clock() -> None:
    """The process is one command, and began with it; called by the entry point alone."""
    global _began
    _began = time.perf_counter() - _age()


def command_start() -> float:
    """By the clock of time.perf_counter."""
    return time.perf_counter() if _began is None else _began


def _age() -> float:
    """Seconds that this process has lived; where the system does not tell, that it has computed."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        born = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # since the machine was started
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - born, 0.0)
    return time.process_time()


# ---- how a command fails -------------------------------------------------------------------------

FAILURE, USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
INTERRUPTED_TEXT = "Interrupted. No file is half-written."
TERMINATED_TEXT = "Ended from outside. What is done is kept; no file is half-written."

_P = ParamSpec("_P")
_debug = False


def set_debug(on: bool) -> None:
    """Show tracebacks and the log from now on, or no longer."""
    global _debug
    if on or _debug:
        import logging

        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("isentropic").setLevel(logging.DEBUG if on else logging.NOTSET)
    _debug = on


def debugging() -> bool:
    """Whether tracebacks are shown."""
    return _debug


def with_error_messages(command: Callable[_P, None]) -> Callable[_P, None]:
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
            typer.echo(f"Error: {terminal_text(text)}", err=True)
            raise typer.Exit(code) from None

    return guarded


def terminal_text(text: str) -> str:
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


# ---- long work, and Ctrl-C -----------------------------------------------------------------------

_ENDS: dict[int, tuple[str, int]] = {
    signal.SIGINT: (INTERRUPTED_TEXT, INTERRUPTED),
    signal.SIGTERM: (TERMINATED_TEXT, TERMINATED),
}
_GRACE = 0.7  # seconds that the computation has to stop by itself, between two blocks of rows


@contextmanager
def computing(what: str) -> Iterator[None]:
    """Fit or place rows in this block; ``what`` begins the message when that is refused."""
    try:
        with prompt_interrupt():
            yield
    except IsentropicError:
        raise
    except ValueError as error:
        # scikit-learn's checks of shapes and values; a decomposition that fails is no usage error
        kind = IsentropicError if type(error).__name__ == "LinAlgError" else InvalidInputError
        raise kind(f"{what} refused the table: {error}") from error


@contextmanager
def prompt_interrupt() -> Iterator[None]:
    """Within the block, end the process when Ctrl-C, or an end from outside, is not answered in a moment.

    Python raises KeyboardInterrupt only when compiled code returns, and a decomposition of a large
    matrix returns after minutes. For use around pure computation: no file may be open for writing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    import socket

    listener, alarm = socket.socketpair()
    alarm.setblocking(False)
    done = threading.Event()
    previous = signal.set_wakeup_fd(alarm.fileno(), warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(listener, done), daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(previous)
        alarm.close()  # wakes the watch
        watch.join()
        listener.close()


def _watch(listener: socket.socket, done: threading.Event) -> None:
    while number := listener.recv(1):
        if number[0] in _ENDS and not done.wait(_GRACE):
            text, code = _ENDS[number[0]]
            show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
            os.write(2, f"{show_cursor}{text}\n".encode())
            os._exit(code)


@contextmanager
def end_on_sigterm() -> Iterator[None]:
    """Within the block SIGTERM ends the work as Ctrl-C does, with a line and a code of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except SystemExit as ended:
        if ended.code == TERMINATED:
            typer.echo(TERMINATED_TEXT, err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
