"""The command line, one file per subcommand: ``isentropic embed | transform | update | path | ...``.

Every module here imports typer and the standard library at its top, nothing else: the help must
come at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from . import (
    compare_maps,
    datasets,
    embed,
    experiment,
    methods,
    path,
    quality,
    report,
    reproduce,
    transform,
    update,
    verify,
    warm,
)
from .shared import process as _process

app = typer.Typer(
    name="isentropic",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help starts in half the time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    embed,
    transform,
    update,
    path,
    quality,
    compare_maps,
    report,
    verify,
    reproduce,
    experiment,
    methods,
    datasets,
    warm,
)
for _command in _COMMANDS:
    app.command(_command.__name__.rpartition(".")[2].replace("_", "-"))(
        _process.with_error_messages(_command.main)
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"isentropic {__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", envvar="ISENTROPIC_DEBUG", help="Show the log, and the traceback of an error."
        ),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Reduce a table to a few coordinates, place new rows among them, and see how far to trust the map.

    \b
    Example:
      isentropic embed builtin:iris --method isomap --out map.csv --plot map.png
    """
    _process.set_debug(debug)


def run() -> None:
    """Entry point of the console script: exit code 0, 1 failure, 2 usage, 130 Ctrl-C."""
    _process.start_clock()
    try:
        app(prog_name="isentropic")
    except KeyboardInterrupt:
        sys.exit(_process.INTERRUPTED)
