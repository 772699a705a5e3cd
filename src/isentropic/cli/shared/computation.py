"""Long work on the command line: Ctrl-C is answered at once, and bad input is told from a bug."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from ..._core.errors import InvalidInputError, IsentropicError
from .failure import INTERRUPTED, INTERRUPTED_TEXT, TERMINATED, TERMINATED_TEXT

if TYPE_CHECKING:
    import socket

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
def ending() -> Iterator[None]:
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
