"""Arguments and options that commands share, and messages of the library in their terms."""

from __future__ import annotations

import math
import re
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from ..._core.errors import require, require_one_of


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
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Threads; all cores by default.")]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that the work may take, as 4G or 500M, of report the whole process; "
        "70% of the free one by default.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary; warnings remain.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON, for programs.")]

# how a table is read
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Class or number of each row; not a feature.")
]
# of the next four: may be repeated, or have names with commas between, or patterns
Features = Annotated[
    list[str] | None,
    typer.Option("--features", metavar="A,B", help="Compare rows by these columns alone; others are labels."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="A,B", help="Columns for colour and explanations, not for distances."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="Leave columns out, as island or 'x_*'; they can still colour."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="Features, though a rule makes them labels or names of rows."),
]
Index = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")]
Nominal = Annotated[str, typer.Option(metavar="RULE", help="Text columns: onehot or coded.")]
Missing = Annotated[
    str, typer.Option(metavar="RULE", help="Missing values: raise, drop, median, ppca, mean or keep.")
]
NewMissing = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="Missing values: drop, mean or keep; by default as in the first table.",
    ),
]
Dates = Annotated[str, typer.Option(metavar="RULE", help="Dates: number (days), or cycle (also the season).")]
Scaling = Annotated[str, typer.Option(metavar="RULE", help="auto, standard, minmax, robust or none.")]
Metric = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Compare rows by it: auto, euclidean, gower (mixed columns), precomputed (distances), ...",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=W,...",
        help="How much columns count, as island=0.5,sex=2; each counts 1 by default. May be repeated.",
    ),
]
RowsAs = Annotated[
    str,
    typer.Option(
        "--rows-as",
        metavar="RULE",
        help="auto, values, shares (of the row's sum), profiles (minus its mean, over its spread) or unit.",
    ),
]
Tails = Annotated[
    str, typer.Option(metavar="RULE", help="Columns with long tails: auto, log or keep (as they are).")
]
Rank = Annotated[
    int | None, typer.Option(metavar="N", help="Principal components of a sparse table; 50 by default.")
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Between fields of CSV and TSV, as ';' or tab; found by default."),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first row names the columns; found by default."),
]
SkipLines = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Lines before the names of the columns; found by default."),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Read a column as unordered levels, to the letter; may be repeated."),
]
Codes = Annotated[
    str, typer.Option(metavar="RULE", help="Codes for missing values, as -999: missing, or keep (numbers).")
]
Samples = Annotated[
    int | None, typer.Option(metavar="N", help="Rows of a generated set, as builtin:swiss-roll.")
]

Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time for all of it, as 30s, 5m or 1h: cheap methods come first, others are left out.",
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

_CALLS = {
    "isentropic.datasets.catalogue()": "'isentropic datasets'",
    "isentropic.config_context(memory_limit=...)": "--memory SIZE",
    "header=False": "--no-header",
    "header=True": "--header",
}
_TABLE_OPTIONS = (
    "target", "features", "labels", "drop", "keep", "index", "nominal", "missing", "dates", "scaling",
    "metric", "rank", "separator", "tails", "rows", "weights", "levels", "codes",
)  # fmt: skip
# name='value', name='value' or 'other', name=['value'], name=50, name=... and name=[...] in a message
_PLACEHOLDERS = {"rank": "N", "weights": "COLUMN=2"}
_ASSIGNMENT = re.compile(
    rf"\b({'|'.join(_TABLE_OPTIONS)})=(?:\[?'(?P<value>[^']*)'\]?(?: or '(?P<other>[^']*)')?"
    r"|(?P<number>\d+)|[\[{]?\.\.\.[\]}]?)"
)


def require_metric(metric: str, missing: str = "raise") -> None:
    """Refuse a name that is no metric before the table is read, and holes for all metrics but Gower's."""
    require(
        missing != "keep" or metric == "gower",
        "--missing",
        "raise, drop, median, ppca or mean, since rows with holes have no neighbours",
        missing,
        "Rows with holes are compared by --metric gower.",
    )
    if metric in ("auto", "euclidean", "gower", "precomputed"):
        return
    from ...distances import metric_names

    require_one_of("--metric", metric, ["auto", *metric_names()])


def weights_in(texts: list[str] | None) -> dict[str, float] | None:
    """Of columns, as COLUMN=NUMBER with commas between; the last = of each counts.

    >>> weights_in(["island=0.5,sex=2", "a=b=3"])
    {'island': 0.5, 'sex': 2.0, 'a=b': 3.0}
    """
    found: dict[str, float] = {}
    for text in texts or []:
        for part in re.split(r"(?<=\d),", text):
            name, _, number = part.rpartition("=")
            must_be = "columns with numbers, as island=0.5,sex=2"
            require(bool(name) and _is_number(number), "--weights", must_be, text)
            found[name.strip()] = float(number)
    return found or None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def seconds_in(option: str, text: str | None) -> float | None:
    """Of a time in words.

    >>> [seconds_in("--budget", text) for text in ("30s", "5m", "1.5h", "90")]
    [30.0, 300.0, 5400.0, 90.0]
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(s|m|min|h)?\s*", text)
    seconds = 0.0 if found is None else float(found[1]) * {"m": 60, "min": 60, "h": 3600}.get(found[2], 1)
    require(seconds >= 1, option, "a time of a second or more, as 30s, 5m or 1h", text)
    return seconds


def bytes_in(option: str, text: str | None) -> int | None:
    """Of a size in words: a plain number is GiB, K, M, G and T count by 1,024, kB to TB by 1,000.

    >>> [bytes_in("--memory", text) for text in ("4", "4G", "4GiB", "500M", "0.5 GB")]
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


def in_options(text: str) -> str:
    """A message of the library, with ``drop=['a']`` said as ``--drop a`` and the like."""
    for call, option in _CALLS.items():
        text = text.replace(call, option)
    return _ASSIGNMENT.sub(_as_option, text)


def _as_option(match: re.Match[str]) -> str:
    values = (match["value"], match["other"], match["number"])
    given = [quote(value) for value in values if value is not None]
    name = {"rows": "rows-as", "labels": "label"}.get(match[1], match[1])
    return f"--{name} {' or '.join(given) or _PLACEHOLDERS.get(name, 'NAME')}"
