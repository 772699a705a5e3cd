"""Export of maps: coordinates and scores of each row as a frame, as files, and for DataMapPlot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from .._core.errors import require, require_file_extra
from .._core.files import atomic_write, path_of
from .._core.values import Floats, Table
from .evaluation.duplicate_rows import DuplicateRows
from .evaluation.runs import Run, require_runs, run_names
from .verdict import Verdict, verdict

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.map_files import MapsFrame

MAP_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".h5ad", ".json")
_OWN_ROWS = (
    "rows",
    "walked",
    "jumps",
    "copies",
)  # which rows, and what is known of other rows than the scored ones
_UNLABELLED = "Unlabelled"  # what DataMapPlot leaves without a name


def maps_frame(table: Table, runs: Sequence[Run], judged: Verdict | None = None) -> pd.DataFrame:
    """Coordinates of every map, the recommended one first, with every score of each row.

    The first column names the rows, a target follows (with ``_`` at its end where its name is that of another
    column); then, for each map, ``NAME_0``, ``NAME_1``, ... and its
    scores, such as ``NAME_false_neighbors`` and ``NAME_tears``; NaN for rows that were not scored. Rows that
    are identical in all columns have one place and one score.

    >>> from isentropic import compare, datasets
    >>> from isentropic.comparison import maps_frame
    >>> iris = datasets.load("builtin:iris")
    >>> frame = maps_frame(iris, compare(iris.X, methods=["pca"], tune=False))
    >>> list(frame.columns)[:5]
    ['row', 'target', 'pca_0', 'pca_1', 'pca_false_neighbors']
    """
    require_runs(table, runs)
    return _maps(table, runs, judged).frame


def save_maps(
    path: str | Path,
    table: Table,
    runs: Sequence[Run],
    judged: Verdict | None = None,
    *,
    raw_text: bool = False,
) -> None:
    """Write :func:`maps_frame` as a file: CSV, TSV, Parquet, Feather, h5ad, or JSON for DataMapPlot.

    An h5ad file holds each map as ``obsm["X_isentropic_NAME"]`` and the scores as columns of ``obs``, as
    scanpy expects. For JSON see :func:`data_map`. The file is written whole or not at all. In CSV and
    TSV, text that a spreadsheet would run as a formula has a quote before it, unless ``raw_text``.
    """
    from ..tables.map_files import write_maps

    require_runs(table, runs)
    path = path_of(path)
    require(
        path.name.lower().endswith(MAP_FILES), "path", f"a file ending in {', '.join(MAP_FILES)}", str(path)
    )
    require_file_extra(path.name)
    if path.suffix.lower() != ".json":
        write_maps(_maps(table, runs, judged), path, raw_text=raw_text)
        return
    text = json.dumps(data_map(table, runs, judged), allow_nan=False)
    with atomic_write(path) as file:
        file.write(text.encode())


def data_map(table: Table, runs: Sequence[Run], judged: Verdict | None = None) -> dict[str, Any]:
    """What ``datamapplot.create_plot`` takes of the recommended map, and the other maps beside.

    ``data_map_coords`` (n, 2) and ``labels`` (n,) are its arguments, ``hover_text`` (n,) that of
    ``create_interactive_plot``; ``maps`` has the coordinates of all maps by name.
    """
    require_runs(table, runs)
    names, order = run_names(runs), _order(runs, judged)
    first = runs[order[0]]
    assert first.embedding is not None
    row_of = _row_of(table, runs)
    places = {names[i]: _flat(runs[i].embedding)[row_of].tolist() for i in order}
    scores = {key: values[row_of] for key, values in row_scores(first).items()}
    given = [None] * len(table.X) if table.labels is None else table.labels
    labels = [_UNLABELLED if one is None or one != one else str(one) for one in given]
    known = {key: scores[key] for key in ("false_neighbors", "tears", "near_neighbors") if key in scores}
    return {
        "format": "isentropic.datamap/1",
        "title": table.name,
        "sub_title": names[order[0]],
        "data_map_coords": places[names[order[0]]],
        "labels": labels,
        "hover_text": [
            "\n".join([name, *(f"{key}: {values[i]:.2f}" for key, values in known.items() if values[i] >= 0)])
            for i, name in enumerate(writable_names(table))
        ],
        "maps": places,
    }


def _writable(values: Any) -> Any:
    """A label as a file takes it: numbers, dates and categories as they are, anything else as text."""
    if values.dtype != object:
        return values.array
    return [None if is_missing else str(one) for one, is_missing in zip(values, values.isna(), strict=True)]


def row_scores(run: Run) -> dict[str, Any]:
    """Every score that a run has of each row, by name; NaN for rows that were not scored.

    False neighbours, tears and near neighbours are those of the smallest neighbourhood; then whatever the run
    holds one number of for each row, or for each scored row.
    """
    if run.embedding is None or run.quality is None:
        return {}
    n, rows = len(run.embedding), run.quality.rows
    found = {"false_neighbors": run.quality.false_neighbors[:, 0], "tears": run.quality.tears[:, 0]}
    if len(run.quality.near_neighbors):  # not in what was written before this measure
        found["near_neighbors"] = run.quality.near_neighbors[:, 0]
    found |= dict(_row_values(run, {n, len(rows)}))
    scores = {
        name: values if len(values) == n else _in_all_rows(values, rows, n) for name, values in found.items()
    }
    trust = run.row_diagnostics
    if trust is not None and trust.walked is not None and trust.jumps is not None:
        scores["jumps"] = _in_all_rows(trust.jumps, trust.walked, n)  # of rows of their own
    return scores


def writable_names(table: Table) -> list[str]:
    """Names of the rows as valid UTF-8."""
    return [name.encode(errors="backslashreplace").decode() for name in table.row_names]


def _row_values(value: Any, lengths: set[int]) -> Iterator[tuple[str, Any]]:
    """Fields of a value, and of values inside it, that are numbers of rows; which rows these are is none."""
    for one in fields(value):
        if one.name in _OWN_ROWS:
            continue
        held = getattr(value, one.name)
        if (
            isinstance(held, np.ndarray)
            and held.ndim == 1
            and len(held) in lengths
            and held.dtype.kind in "iufb"
        ):
            yield one.name, held
        elif is_dataclass(held) and one.name != "quality":
            yield from _row_values(held, lengths)


def _in_all_rows(values: Any, rows: Any, n: int) -> Floats:
    scores = np.full(n, np.nan)
    scores[rows] = values
    return scores


# ---- as columns --------------------------------------------------------------------------------


def _order(runs: Sequence[Run], judged: Verdict | None) -> list[int]:
    """Maps by position, the one to look at first."""
    there = [i for i, run in enumerate(runs) if not run.failed]
    require(bool(there), "runs", "at least one with a map", f"{len(runs)} that failed")
    shown = (verdict(runs) if judged is None else judged).shown
    return sorted(there, key=lambda i: i != shown)


def _row_of(table: Table, runs: Sequence[Run]) -> Any:
    """Where the maps have each row of the table; identical rows have one place."""
    n, mapped = len(table.X), {len(run.embedding) for run in runs if run.embedding is not None}
    if mapped == {n}:
        return slice(None)
    copies = DuplicateRows.of(table.X, table.y if table.class_names else None)
    different = n if copies is None else len(copies.rows)
    hint = "Give the rows that were compared, as the Runs say in their rows."
    require(mapped == {different}, "table", f"the one of the maps, of {sorted(mapped)} rows", n, hint)
    return slice(None) if copies is None else copies.row_of


def _flat(embedding: Any) -> Floats:
    """Two coordinates, as a plane takes them."""
    places = np.asarray(embedding, float)
    return places[:, :2] if places.shape[1] > 1 else np.column_stack([places, np.zeros(len(places))])


def _maps(table: Table, runs: Sequence[Run], judged: Verdict | None) -> MapsFrame:
    import pandas as pd

    from ..tables.map_files import MapsFrame, free_name

    names, order, row_of = run_names(runs), _order(runs, judged), _row_of(table, runs)
    columns: dict[str, Any] = {}
    maps = {}
    for i in order:
        embedding = runs[i].embedding
        assert embedding is not None
        coordinates = {f"{names[i]}_{d}": embedding[:, d] for d in range(embedding.shape[1])}
        maps[names[i]] = list(coordinates)
        columns |= coordinates | {f"{names[i]}_{key}": values for key, values in row_scores(runs[i]).items()}
    columns = {name: values[row_of] for name, values in columns.items()}
    row = free_name(getattr(table.preparation, "index", None) or "row", columns)
    named: dict[str, Any] = {row: writable_names(table)}
    if table.labels is not None:
        target = getattr(table.preparation, "target", None) or "target"
        named[free_name(target, columns | named)] = table.labels
    for name in (column.name for column in table.columns if column.role == "label"):
        named[free_name(name, columns | named)] = _writable(table.other_columns[name])
    about = {"table": table.name, "first": names[order[0]], "version": __version__}
    return MapsFrame(pd.DataFrame(named | columns), maps, table.X, table.feature_names, about)
