"""What a command writes: declared and checked before it reads anything, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._core.errors import InvalidInputError, message, require, require_extra, require_file_extra

if TYPE_CHECKING:
    import pandas as pd

    from ..._core.values import Table
    from ...tables import Preparation

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
ROWS = (*TABLES, ".feather")  # that columns about rows are written to
MAPS = (*ROWS, ".h5ad")  # and coordinates
FIGURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
_DPI = 150
_HEAD = 4096  # bytes of a file that say who wrote it


@dataclass(frozen=True, slots=True)
class Files:
    """Where a command writes: coordinates, and on request the model and a figure."""

    out: Path
    save: Path | None = None
    plot: Path | None = None

    def by_option(self) -> dict[str, Path]:
        """The files asked for, under the name of their option."""
        named = {"out": self.out, "save": self.save, "plot": self.plot}
        return {option: path for option, path in named.items() if path is not None}


@dataclass(frozen=True, slots=True)
class Output:
    """A file that a command is to write, or a folder of results, and on what terms."""

    name: str  # its option, or what it is beside that
    path: Path
    suffixes: Sequence[str] = ()  # that it may have; none: any
    needs: tuple[str, str] | None = None  # the extra that writes it, and what for
    room: int = 4096  # bytes
    # of a name that nobody typed: whether a file that begins so is of an earlier run, which may be replaced
    is_ours: Callable[[bytes], bool] | None = None
    replaces: Path | None = None  # the input whose place it may take
    is_folder: bool = False


def map_outputs(
    out: Path | None,
    save: Path | None = None,
    plot: Path | None = None,
    *,
    known: Sequence[str] = MAPS,
    model: Path | None = None,
) -> list[Output]:
    """Rows, a model, which may take the place of ``model``, and a figure, as far as they are asked for."""
    found = [] if out is None else [Output("--out", out, known)]
    found += [] if save is None else [Output("--save", save, replaces=model)]
    figure = ("plot", "A figure")
    return found + ([] if plot is None else [Output("--plot", plot, FIGURES, figure)])


def require_outputs(outputs: Sequence[Output], inputs: Sequence[Path], *, force: bool = False) -> None:
    """Refuse now what could not be written after the work is done, or would be lost by it."""
    from ..._core.files import require_writable

    for output in outputs:
        if output.suffixes:
            require_suffix(output.name, output.path, output.suffixes)
        if output.needs is not None:
            require_extra(*output.needs)
        require_file_extra(output.path.name)
    _require_no_input(outputs, inputs)
    _require_distinct(outputs)
    for output in outputs:
        require_replaceable(output, force=force)
        if not output.is_folder:
            require_writable(output.path, output.room)


def _require_no_input(outputs: Sequence[Output], inputs: Sequence[Path]) -> None:
    from ..._core.files import file_identity

    read = {file_identity(path) for path in inputs}
    for output in outputs:
        exempt = set() if output.replaces is None else {file_identity(output.replaces)}
        is_input = file_identity(output.path) in read - exempt
        option = "it" if output.name.startswith("--") else "--out"  # its name follows from that
        hint = f"It would take the place of what is read: give {option} another name."
        require(not is_input, output.name, "another file than its sources", str(output.path), hint)


def _require_distinct(outputs: Sequence[Output]) -> None:
    from ..._core.files import are_one_file

    for first, second in combinations(outputs, 2):
        apart = not are_one_file(first.path, second.path)
        require(apart, second.name, f"another file than {first.name}", str(second.path))


def require_replaceable(output: Output, *, force: bool) -> None:
    """Refuse a file that is there under a name nobody typed, and that no earlier run wrote."""
    if force or output.is_ours is None or not output.path.exists() or is_of_earlier_run(output):
        return
    raise InvalidInputError(
        f"{output.path} is there and was not written by isentropic: {output.name} does not replace it. Give "
        "--out another name, or say --force."
    )


def is_of_earlier_run(output: Output) -> bool:
    """Whether a file is there that begins as those that we write under its name."""
    if output.is_ours is None or not output.path.is_file():
        return False
    try:
        with output.path.open("rb") as file:
            return output.is_ours(file.read(_HEAD))
    except OSError:
        return False


def is_page(head: bytes) -> bool:
    """Whether a file begins as a page of ours: HTML names the program that wrote it."""
    return b'<meta name="generator" content="isentropic">' in head


def inputs_of(source: str, target: str | None = None, *others: Path) -> list[Path]:
    """Files that a command reads: those of its source, and others."""
    from ...tables.table_sources import input_files

    return [*input_files(source, target), *others]


def require_suffix(option: str, path: Path, known: Sequence[str]) -> None:
    """Refuse a file of another kind."""
    if not path.name.lower().endswith(tuple(known)):
        raise InvalidInputError(message(option, f"a file ending in {', '.join(known)}", str(path)))


def coordinates_frame(Z: Any, columns: Sequence[str], table: Table) -> pd.DataFrame:
    """Row name, coordinates, target: the columns of an output file."""
    return named_frame(Z, columns, table.row_names, table.labels, table.preparation)


def named_frame(
    Z: Any, columns: Sequence[str], names: Sequence[str], labels: Any, preparation: Preparation
) -> pd.DataFrame:
    """As :func:`coordinates_frame`, of rows that may be those of several tables."""
    import pandas as pd

    from ...tables.map_files import free_name

    frame = pd.DataFrame(Z, columns=list(columns))
    # a table that was embedded before may have a column of the same name, and a target may be called row
    frame.insert(0, free_name(preparation.index or "row", frame.columns), names)
    if labels is not None:
        frame.insert(frame.shape[1], free_name(preparation.target or "target", frame.columns), labels)
    return frame


def write_map(
    frame: pd.DataFrame,
    columns: Sequence[str],
    path: Path,
    method: str,
    table: Table | None = None,
    *,
    raw_text: bool,
) -> None:
    """Write a frame with ``columns`` of coordinates, by the suffix; h5ad has the table's features too."""
    from ..._core.sparse_rows import is_sparse
    from ...tables.map_files import MapsFrame, write_maps

    X, features = (None, ()) if table is None or is_sparse(table.X) else (table.X, table.feature_names)
    write_maps(
        MapsFrame(frame, {method: list(columns)}, X, features, {"first": method}), path, raw_text=raw_text
    )


def write_frame(frame: pd.DataFrame, path: Path, *, raw_text: bool) -> None:
    """Write CSV, TSV, Parquet or Feather, by the suffix; numbers keep every bit."""
    from ...tables.map_files import write_frame

    write_frame(frame, path, raw_text=raw_text)


def write_figure(figure: Any, path: Path) -> None:
    """Write PNG, SVG or PDF, by the suffix."""
    from ..._core.files import atomic_write

    with atomic_write(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=_DPI)
