"""What a command did: a few calm lines for the reader, JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from ..._core.errors import plural, printable
from .output import Files
from .terminal import show_json

if TYPE_CHECKING:
    from ..._core.values import Table


@dataclass(frozen=True, slots=True)
class Summary:
    """What was placed, by what, how long it took, and where the files are."""

    method: str
    parameters: Mapping[str, Any]  # as given on the command line
    table: Table
    coordinates: int
    seconds: float
    files: Files
    warnings: list[str]
    facts: Mapping[str, Any] = field(default_factory=dict)


def facts_of(estimator: Any, method: str) -> dict[str, Any]:
    """The figures that the registry names for a method, as plain numbers: eigenvalues and the like."""
    from ...registry import METHODS, family_of

    line = METHODS[method]
    present = {name: getattr(estimator, name, None) for name in (*family_of(line).figures, *line.figures)}
    facts = {name.rstrip("_"): _plain(value) for name, value in present.items() if value is not None}
    graph = getattr(estimator, "graph_", None)
    if graph is not None and not graph.exact:
        facts["recall of neighbours"] = graph.recall
    return facts


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def show_summary(summary: Summary, *, quiet: bool, as_json: bool) -> None:
    """Print JSON, or lines unless the reader wants quiet."""
    if as_json:
        show_json(document_of(summary))
    elif not quiet:
        for line in _lines(summary):
            typer.echo(line)


def document_of(summary: Summary) -> dict[str, Any]:
    """A summary for programs."""
    return {
        "table": summary.table.name,
        "method": summary.method,
        "parameters": {name: _json_value(value) for name, value in summary.parameters.items()},
        "rows": len(summary.table.row_names),
        "features": len(summary.table.feature_names),
        "columns": [asdict(column) for column in summary.table.columns],
        "scaling": summary.table.scaling,
        "coordinates": summary.coordinates,
        "seconds": round(summary.seconds, 3),
        **{option: str(path) for option, path in summary.files.by_option().items()},
        "warnings": summary.warnings,
        **summary.facts,
    }


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return _plain(value)
    return str(value)


def _lines(summary: Summary) -> list[str]:
    table = summary.table
    scaled = "not scaled" if table.scaling == "none" else f"scaling {table.scaling}"
    chosen = ", ".join(f"{name}={value}" for name, value in summary.parameters.items())
    method = f"{summary.method} ({chosen})" if chosen else summary.method
    files = ", ".join(map(str, summary.files.by_option().values()))
    rows, features = plural(len(table.row_names), "row"), plural(len(table.feature_names), "feature")
    lines = [
        f"{table.name}: {rows}, {features}, {scaled}",
        f"{method}: {plural(summary.coordinates, 'coordinate')} in {summary.seconds:.3g} s",
    ]
    lines += [f"{name.replace('_', ' ')}: {_number_line(value)}" for name, value in summary.facts.items()]
    return [*lines, printable(f"wrote {files}")]


def _number_line(value: Any) -> str:
    if isinstance(value, list):
        more = " ..." if len(value) > 5 else ""
        return ", ".join(_number_line(item) for item in value[:5]) + more
    return f"{value:.4g}" if isinstance(value, float) else str(value)
