"""Coordinates, figures and summaries as files: written whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import InvalidInputError, message, require
from .._extras import require_extra, require_file_extra

if TYPE_CHECKING:
    import pandas as pd

    from .._values import Table
    from ..datasets import Preparation

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
ROWS = (*TABLES, ".feather")  # that columns about rows are written to
MAPS = (*ROWS, ".h5ad")  # and coordinates
FIGURES = (".png", ".svg", ".pdf")
_DPI = 150


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


def require_outputs(files: Files, source: str) -> None:
    """Refuse now what could not be written after the work is done."""
    from .._io import real_path, require_writable

    require_suffix("--out", files.out, MAPS)
    require_file_extra(files.out.name)
    if files.plot is not None:
        require_suffix("--plot", files.plot, FIGURES)
        require_extra("plot", "A figure")
    paths = list(files.by_option().values())
    resolved = [real_path(path) for path in paths]
    for path, place in zip(paths, resolved, strict=True):
        require(resolved.count(place) == 1, "each output", "a file of its own", str(path))
        require(place != real_path(source), "an output", "another file than the source", str(path))
        require_writable(path)


def require_figure(plot: Path, *sources: str) -> None:
    """Refuse now a figure that could not be written after the work is done."""
    from .._io import real_path, require_writable

    require_suffix("--plot", plot, FIGURES)
    require_extra("plot", "A figure")
    among_sources = real_path(plot) in [real_path(source) for source in sources]
    require(not among_sources, "--plot", "another file than its sources", str(plot))
    require_writable(plot)


def require_rows_file(out: Path, *sources: str, option: str = "--out", known: Sequence[str] = MAPS) -> None:
    """Refuse now a file of rows that could not be written after the work is done."""
    from .._io import real_path, require_writable

    require_suffix(option, out, known)
    require_file_extra(out.name)
    among_sources = real_path(out) in [real_path(source) for source in sources]
    require(not among_sources, option, "another file than its sources", str(out))
    require_writable(out)


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

    from ..datasets.written import free_name

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
    from .._sparse_rows import is_sparse
    from ..datasets.written import MapsFrame, write_maps

    X, features = (None, ()) if table is None or is_sparse(table.X) else (table.X, table.feature_names)
    write_maps(
        MapsFrame(frame, {method: list(columns)}, X, features, {"first": method}), path, raw_text=raw_text
    )


def write_frame(frame: pd.DataFrame, path: Path, *, raw_text: bool) -> None:
    """Write CSV, TSV, Parquet or Feather, by the suffix; numbers keep every bit."""
    from ..datasets.written import write_frame

    write_frame(frame, path, raw_text=raw_text)


def write_figure(figure: Any, path: Path) -> None:
    """Write PNG, SVG or PDF, by the suffix."""
    from .._io import atomic_write

    with atomic_write(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=_DPI)
