"""Arguments and options that commands share; those of a table are in ``table_options``."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._core.errors import require


def input_path(text: str | Path) -> Path:
    """A file or folder that a command reads; ``~`` is the home folder."""
    from ..._core.files import path_of

    return path_of(text)


def output_path(text: str | Path) -> Path:
    """A file or folder that a command writes; ``~`` is the home folder."""
    from ..._core.files import path_of

    return path_of(text)


def out_option(help: str, default: str | bool = True) -> Any:
    """``--out`` of a command, and its name where none is given."""
    return typer.Option("--out", "-o", metavar="FILE", parser=output_path, show_default=default, help=help)


Source = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="A file (CSV, Excel, Parquet, ...), builtin:NAME or openml:NAME."),
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", parser=input_path, help="A file that 'isentropic embed --save' wrote."),
]
Out = Annotated[Path, out_option("Coordinates: .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, .h5ad.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", parser=output_path, help="Draw the map: .png, .svg or .pdf."),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace files under names that were not given, though isentropic did not write them."
    ),
]
RawText = Annotated[
    bool,
    typer.Option(
        "--raw-text",
        help="Write text to CSV as it is: no quote before what a spreadsheet would run as a formula.",
    ),
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Cores to use; all by default.")]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory limit, such as 4G or 500M (for report: of the whole process); "
        "70% of the free memory by default.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary; warnings remain.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON, for programs.")]

NewMissing = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="Missing values: drop, mean or keep; by default as in the first table.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time limit, such as 30s, 5m or 1h: cheap methods run first, others are left out.",
    ),
]
MostRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=4,
        help="Compare on at most N rows, drawn, and fit the recommended map on all; "
        "5,000 of a table of more than 10,000 by default, 3,000 of a mixed one.",
    ),
]


def parse_seconds(option: str, text: str | None) -> float | None:
    """Of a time in words.

    >>> [parse_seconds("--budget", text) for text in ("30s", "5m", "1.5h", "90")]
    [30.0, 300.0, 5400.0, 90.0]
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(s|m|min|h)?\s*", text)
    seconds = 0.0 if found is None else float(found[1]) * {"m": 60, "min": 60, "h": 3600}.get(found[2], 1)
    require(seconds >= 1, option, "a time of a second or more, as 30s, 5m or 1h", text)
    return seconds


def parse_bytes(option: str, text: str | None) -> int | None:
    """Of a size in words: a plain number is GiB, K, M, G and T count by 1,024, kB to TB by 1,000.

    >>> [parse_bytes("--memory", text) for text in ("4", "4G", "4GiB", "500M", "0.5 GB")]
    [4294967296, 4294967296, 4294967296, 524288000, 500000000]
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(?:([kmgt])(i?b)?)?\s*", text, re.IGNORECASE)
    size = 0.0
    if found is not None:
        base = 1_000 if (found[3] or "").lower() == "b" else 1_024
        size = float(found[1]) * base ** ("kmgt".index((found[2] or "g").lower()) + 1)
    hint = "A plain number is GiB."
    require(1 <= size < math.inf, option, "a size above 0, as 4G, 4GiB or 500M", text, hint)
    return int(size)
