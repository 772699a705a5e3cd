"""``isentropic update``: append new rows to a map that was made before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import InvalidInputError, plural, printable, require
from ..scale.saved_model import Rows, SavedModel, make_reference_outputs, outputs_for, read_model
from .shared.options import AsJson, Memory, Model, NewMissing, Out, Quiet, RawText, Source, output_path
from .shared.output import Files, inputs_of, map_outputs, named_frame, require_outputs, write_map
from .shared.process import computing, prompt_interrupt
from .shared.summary import Summary, document_of
from .shared.table_options import Header, Separator, SkipLines
from .shared.terminal import reporting, show_json

if TYPE_CHECKING:
    from .._core.values import Table
    from ..meta import Appended

Save = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEL",
        parser=output_path,
        help="Keep the grown model; it may take the place of MODEL.",
    ),
]
Refine = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Steps of all rows after the new ones are placed, where the method cannot append exactly; "
        "with 0 no old row moves.",
    ),
]


def main(
    model: Model,
    source: Source,
    out: Out,
    save: Save = None,
    raw_text: RawText = False,
    refine: Refine = 50,
    missing: NewMissing = "raise",
    separator: Separator = None,
    header: Header = None,
    skip_lines: SkipLines = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Append new rows to a saved map, write the map of all rows, and tell how far the old ones moved.

    ISOMAP's map becomes that of all rows, turned onto the old one. t-SNE, UMAP, SDD and metric MDS
    place the new rows, then move all of them by a few steps.

    \b
    Example:
      isentropic update flats.isentropic new_flats.csv --out map.csv --save flats.isentropic
    """
    require(refine >= 0, "--refine", "a number of steps", refine)
    files = Files(out, save)
    require_outputs(map_outputs(out, save, model=model), inputs_of(source, None, model))
    with reporting(bars=not quiet, memory=memory) as warned:
        from .._core.files import write_together
        from ..meta import append_rows
        from ..tables import load

        with prompt_interrupt():
            saved = read_model(model)
            _require_growth(saved)
            saved.require_rule(missing)
            prepared = saved.preparation  # its index must be there: rows of a map have names, or none has
            table = load(
                source,
                index=prepared.index,
                preparation=prepared,
                missing=missing,
                separator=separator,
                header=header,
                skip_lines=skip_lines,
            )
        names, labels = _all_rows(saved, table, model)
        n = len(saved.estimator.embedding_)
        with computing(saved.method):
            found = append_rows(saved.estimator, table.X, refine=refine)
        Z, columns = saved.estimator.embedding_, saved.estimator.get_feature_names_out()
        frame = named_frame(Z, columns, names, labels, saved.preparation)
        with write_together():
            write_map(frame, columns, out, saved.method, raw_text=raw_text)
            if save is not None:
                _grown_model(saved, table, Rows(names, labels)).write(save)
    facts = {
        "update": found.kind,
        "steps": found.steps,
        "rows_before": n,
        "moved_median": found.moved.median,
        "moved_worst": found.moved.worst,
    }
    summary = Summary(saved.method, {}, table, Z.shape[1], found.seconds, files, warned, facts)
    if as_json:
        show_json(document_of(summary))
    elif not quiet:
        for line in _lines(summary, found):
            typer.echo(line)


def _require_growth(saved: SavedModel) -> None:
    """Refuse a method to whose map rows cannot be appended, and name those that can."""
    from ..methods.meta.appended_rows import can_append, grows
    from ..registry import METHODS

    if not can_append(saved.estimator):
        able = ", ".join(name for name, line in METHODS.items() if not line.needs_y and grows(line.load()))
        raise InvalidInputError(
            f"{saved.method} cannot take more rows. 'isentropic transform' places them; maps that grow are "
            f"those of {able}."
        )


def _all_rows(saved: SavedModel, table: Table, model: Path) -> tuple[tuple[str, ...], tuple[Any, ...] | None]:
    """Names and labels of the old rows and of the new ones, in this order."""
    n, index = len(saved.estimator.embedding_), saved.preparation.index
    if saved.rows is None and index is not None:
        raise InvalidInputError(
            f"{model} must know the names of its rows, but was saved without them. Save it again with "
            "'isentropic embed --save'."
        )
    known = saved.rows or Rows()
    names = known.names or tuple(map(str, range(n)))
    added = table.row_names if index is not None else _next_row_numbers(names, len(table.row_names))
    _require_new(names, added)
    return (*names, *added), _labels(known.labels, table, n)


def _next_row_numbers(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Numbers for rows without names, after those that rows have already."""
    last = max((int(name) for name in names if name.isdecimal()), default=-1)
    first = max(last + 1, len(names))
    return tuple(map(str, range(first, first + count)))


def _require_new(names: Sequence[str], added: Sequence[str]) -> None:
    from ..tables.class_labels import require_distinct

    require_distinct(added, "the names of the rows in SOURCE")
    known = set(names)
    again = [name for name in added if name in known]
    if again:
        hint = "Leave them out. Rows that have changed need a new map: embed all rows again."
        got = f"{len(again)} that it has, such as {again[0]!r}"
        require(False, "SOURCE", "rows whose names the map does not have yet", got, hint)


def _labels(known: Sequence[Any] | None, table: Table, n: int) -> tuple[Any, ...] | None:
    """Classes or numbers of all rows, None for those of which none is known."""
    added = None if table.labels is None else table.labels.tolist()
    if known is None and added is None:
        return None
    return (*(known or [None] * n), *(added or [None] * len(table.row_names)))


def _grown_model(saved: SavedModel, table: Table, rows: Rows) -> SavedModel:
    """The model of all rows, and where it places those by which another machine checks it."""
    old = saved.reference_outputs
    X = table.X if old is None else old.rows
    new = make_reference_outputs(saved.estimator, X) if old is None else outputs_for(saved.estimator, X)
    return replace(saved, rows=rows, reference_outputs=new)


def _lines(summary: Summary, found: Appended) -> list[str]:
    how = {
        "exact": "the map of all rows, turned onto the old one",
        "refined": f"new rows placed, then {plural(found.steps, 'step')} of all",
        "placed": "new rows placed, old ones as they were",
    }[found.kind]
    total = len(found.moved.distances) + found.n_new
    median, worst = (f"{round(100 * share, 2):g}%" for share in (found.moved.median, found.moved.worst))
    files = ", ".join(map(str, summary.files.by_option().values()))
    return [
        f"{summary.table.name}: {plural(found.n_new, 'new row')}, {total:,} in the map",
        f"{summary.method}: {how}, in {summary.seconds:.3g} s",
        f"old rows moved by {median} of the map's width in the median, {worst} at most",
        printable(f"wrote {files}"),
    ]
