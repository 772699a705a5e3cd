"""Options that say how a table is read, declared once, and messages of the library in their terms.

A command that reads a table has a parameter ``table_options`` and the decorator :func:`with_table_options`.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..._core.errors import require, require_one_of

if TYPE_CHECKING:
    from ..._core.values import Table

# Options that some command takes without the others.
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with the class or value to predict; it is not used as a feature."
    ),
]
Nominal = Annotated[str, typer.Option(metavar="RULE", help="Text columns: onehot or coded.")]
Dates = Annotated[str, typer.Option(metavar="RULE", help="Dates: number (days), or cycle (also the season).")]
Rank = Annotated[
    int | None, typer.Option(metavar="N", help="Principal components of a sparse table; 50 by default.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="Field separator of CSV and TSV, such as ';' or tab; detected by default."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first row has the column names; detected by default."
    ),
]
SkipLines = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Lines above the column names to skip; detected by default."),
]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is read: one field per option, in the order of the help.

    Lists of columns may be repeated, or have names with commas between, or patterns.
    """

    target: Target = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features", metavar="A,B", help="Compare rows by these columns only; all others are labels."
        ),
    ] = None
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", metavar="A,B", help="Columns to colour and explain the map by; not used for distances."
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns to leave out, such as island or 'x_*'; they can still colour."
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns to use as features even if they look like IDs or labels."),
    ] = None
    index: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")] = (
        None
    )
    nominal: Nominal = "onehot"
    missing: Annotated[
        str, typer.Option(metavar="RULE", help="Missing values: raise, drop, median, ppca, mean or keep.")
    ] = "raise"
    dates: Dates = "number"
    scaling: Annotated[str, typer.Option(metavar="RULE", help="auto, standard, minmax, robust or none.")] = (
        "auto"
    )
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Distance between rows: auto, euclidean, gower (mixed columns), precomputed, ...",
        ),
    ] = "auto"
    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=W,...",
            help="Weights of columns, such as island=0.5,sex=2; 1 by default. May be repeated.",
        ),
    ] = None
    rows_as: Annotated[
        str,
        typer.Option(
            "--rows-as",
            metavar="RULE",
            help="auto, values, shares (of the row's sum), profiles (minus its mean, over its spread) "
            "or unit.",
        ),
    ] = "auto"
    tails: Annotated[
        str, typer.Option(metavar="RULE", help="Columns with long tails: auto, log or keep (as they are).")
    ] = "auto"
    rank: Rank = None
    separator: Separator = None
    header: Header = None
    skip_lines: SkipLines = None
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Read a column as unordered categories, exactly as written; may be repeated.",
        ),
    ] = None
    codes: Annotated[
        str,
        typer.Option(
            metavar="RULE", help="Codes for missing values, such as -999: missing, or keep (as numbers)."
        ),
    ] = "missing"
    samples: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of rows of a generated table, such as builtin:swiss-roll."),
    ] = None

    def load(self, source: str, *, metric: str | None = None) -> Table:
        """Read the table, encode and scale it; ``metric`` takes the place of the option."""
        from ...tables import load

        arguments = asdict(self)
        for option, name in _ARGUMENTS.items():
            arguments[name] = arguments.pop(option)
        for name in ("features", "labels", "drop", "keep", "levels"):
            arguments[name] = arguments[name] or ()
        arguments["weights"] = column_weights(self.weights)
        arguments["metric"] = metric or self.metric
        return load(source, arguments.pop("target"), **arguments)

    def by_option(self) -> dict[str, Any]:
        """Values by the names of the options, without their dashes."""
        return {name.replace("_", "-"): value for name, value in asdict(self).items()}

    def require_metric(self) -> None:
        """Refuse a name that is no metric before the table is read."""
        if self.metric in ("auto", "euclidean", "gower", "precomputed"):
            return
        from ...distances import metric_names

        require_one_of("--metric", self.metric, ["auto", *metric_names()])

    def require_distances(self) -> None:
        """Refuse what gives no distances between rows: no metric, or missing values for all but Gower's."""
        require(
            self.missing != "keep" or self.metric == "gower",
            "--missing",
            "raise, drop, median, ppca or mean, since rows with holes have no neighbours",
            self.missing,
            "Rows with holes are compared by --metric gower.",
        )
        self.require_metric()


TABLE_DEFAULTS = TableOptions()
_ARGUMENTS = {"label": "labels", "rows_as": "rows", "samples": "n_samples"}  # of load, under other names


def with_table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``table_options`` of a command by the options of :class:`TableOptions`.

    They stand in the help where the parameter stands in the signature. One that the command declares itself,
    as report its target, keeps its own place and is passed in both ways.
    """
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    own = [name for name in signature.parameters if name != "table_options"]
    option_hints = get_type_hints(TableOptions, include_extras=True)
    parameters = []
    for name, parameter in signature.parameters.items():
        if name != "table_options":
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        for field in fields(TableOptions):
            if field.name not in own:
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
                hint = option_hints[field.name]
                parameters.append(inspect.Parameter(field.name, kind, default=field.default, annotation=hint))

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        chosen = {field.name: given[field.name] for field in fields(TableOptions) if field.name in given}
        command(**{name: given[name] for name in own if name in given}, table_options=TableOptions(**chosen))

    del with_options.__wrapped__  # its signature is another one
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    return with_options


def column_weights(texts: list[str] | None) -> dict[str, float] | None:
    """Of columns, as COLUMN=NUMBER with commas between; the last = of each counts.

    >>> column_weights(["island=0.5,sex=2", "a=b=3"])
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


# ---- messages of the library ---------------------------------------------------------------------

_CALLS = {
    "isentropic.datasets.catalogue()": "'isentropic datasets'",
    "isentropic.config_context(memory_limit=...)": "--memory SIZE",
    "header=False": "--no-header",
    "header=True": "--header",
}
_NAMED = [_ARGUMENTS.get(field.name, field.name) for field in fields(TableOptions)]
_PLACEHOLDERS = {"rank": "N", "weights": "COLUMN=2"}
# name='value', name='value' or 'other', name=['value'], name=50, name=... and name=[...] in a message
_ASSIGNMENT = re.compile(
    rf"\b({'|'.join(name for name in _NAMED if name not in ('header', 'skip_lines', 'n_samples'))})="
    r"(?:\[?'(?P<value>[^']*)'\]?(?: or '(?P<other>[^']*)')?|(?P<number>\d+)|[\[{]?\.\.\.[\]}]?)"
)


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
