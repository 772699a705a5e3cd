"""``isentropic path``: ISOMAP over growing neighbourhoods, to see which size to take."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import InvalidInputError, message, require
from .shared.options import AsJson, Jobs, Memory, Quiet, Source, output_path
from .shared.output import inputs_of, map_outputs, require_outputs, write_figure
from .shared.process import computing, prompt_interrupt
from .shared.table_options import TABLE_DEFAULTS, TableOptions, with_table_options
from .shared.terminal import reporting, show_json, show_table

if TYPE_CHECKING:
    from .._core.values import Table
    from ..meta import Path as IsomapPath

Values = Annotated[
    str | None,
    typer.Option(
        "--k", metavar="K,K,...", help="Numbers of neighbours, such as 5,10,20; 5 to 24 by default."
    ),
]
Radii = Annotated[
    str | None, typer.Option("--radius", metavar="R,R,...", help="Radii, instead of neighbours.")
]
Components = Annotated[int, typer.Option("--components", metavar="N", help="Dimension of the maps.")]
Figure = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", parser=output_path, help="Draw the curves: .png, .svg or .pdf."),
]


@with_table_options
def main(
    source: Source,
    k: Values = None,
    radius: Radii = None,
    components: Components = 2,
    plot: Figure = None,
    table_options: TableOptions = TABLE_DEFAULTS,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Which k? ISOMAP over growing neighbourhoods, with an alarm where paths begin to leap across gaps.

    \b
    Examples:
      isentropic path builtin:swiss-roll --plot path.png
      isentropic path flats.csv --target price --k 5,10,20,40 --json
    """
    table_options.require_distances()
    require(k is None or radius is None, "--k and --radius", "one or the other", "both")
    numbers = _numbers("--k", k, int) if radius is None else _numbers("--radius", radius, float)
    require_outputs(map_outputs(None, plot=plot), inputs_of(source, table_options.target))
    with reporting(bars=not quiet, memory=memory) as warned:
        with prompt_interrupt():
            table = table_options.load(source)
        began = time.perf_counter()
        with computing("path"):
            found = _search_path(table, numbers, radius is not None, components, jobs)
        seconds = time.perf_counter() - began
        if plot is not None:
            from ..plot import path_curves
            from ..plot.palette import plain_text

            write_figure(path_curves(found, title=plain_text(f"{table.name}, ISOMAP")), plot)
    if as_json:
        facts = {"table": table.name, "rows": len(table.X), "components": components}
        drawn = {} if plot is None else {"plot": str(plot)}
        show_json({**facts, **_document(found), **drawn, "seconds": round(seconds, 3), "warnings": warned})
    elif not quiet:
        _show(found)


def _numbers(option: str, given: str | None, kind: type) -> list[Any] | None:
    try:
        return None if given is None else [kind(part) for part in given.split(",")]
    except ValueError:
        raise InvalidInputError(message(option, "numbers with commas between them", given)) from None


def _search_path(
    table: Table, numbers: list[Any] | None, radii: bool, components: int, jobs: int | None
) -> IsomapPath:
    from .._core.values import Radius
    from ..meta import isomap_path

    given: dict[str, Any] = (
        {} if numbers is None else {"n_neighbors": [Radius(r) for r in numbers] if radii else numbers}
    )
    return isomap_path(table.X, n_components=components, metric=table.metric, n_jobs=jobs, **given)


def _size(value: Any) -> Any:
    return getattr(value, "eps", value)


def _document(found: IsomapPath) -> dict[str, Any]:
    """Every curve, by the names of the value; null where there is no map before."""
    curves = {name: getattr(found, name) for name in _CURVES}
    return {
        "neighbors": [_size(value) for value in found.neighbors],
        "chosen": _size(found.chosen),
        "short_circuits": [_size(value) for value in found.short_circuits],
        "parts": found.n_parts.tolist(),
        **{name: [None if math.isnan(v) else v for v in values.tolist()] for name, values in curves.items()},
    }


_CURVES = ("residual_variance", "rnx_auc", "shrinkage", "stability", "geodesic_sum")


def _show(found: IsomapPath) -> None:
    head = ["neighbours", "residual variance", "R_NX area", "shrinkage", "stability", "parts", ""]
    columns = (found.residual_variance, found.rnx_auc, found.shrinkage, found.stability)
    lines = []
    for i, value in enumerate(found.neighbors):
        note = "short circuit" if value in found.short_circuits else "chosen" if value == found.chosen else ""
        figures = ["" if math.isnan(column[i]) else f"{column[i]:.4g}" for column in columns]
        lines.append([f"{_size(value):g}", *figures, str(found.n_parts[i]), note])
    show_table(head, lines)
