"""Small files of every format, made of hostile cells, and plain readings that share no code with ours."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import struct
import warnings
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import zstandard
from pyarrow import feather, ipc, parquet

TEXT = {".csv": ",", ".tsv": "\t", ".txt": ";", ".dat": "|", ".zip": ","}
Columns = dict[str, list[Any]]

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
MISSING = {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "?"}

FLOATS = (0.1, -0.0, 1 / 3, 5e-324, 1.7976931348623157e308, -1e-300, 123456789.123456789, 1e22, -2.5)
WHOLES = (0, 1, -1, 255, 2**31, -(2**31), 2**53 - 1)
HUGE = (2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**15 + 1)
WORDS = (
    "=1+1", "+x", "-x", "@sum", "'=x", "a,b", "a;b", "a|b", "a\tb", 'q"q', "two\nlines", "é", "e\u0301",
    "\u202e", "𝔘", "None", "True", "inf", "007", "1e5", "0x10", "1_000", "٣", "−5", "12%", "$5",
    "1,234", "3,5", "<b>", "x" * 300, "\x01", "\x7f", "\ufffe", "#REF!", "{}", "[1, 2]", "\\", "%",
    "'", "NaN.", "2020-02-30", "01/02/2020",
)  # fmt: skip
MOMENTS = (datetime(1970, 1, 1), datetime(2020, 2, 29, 12, 30), datetime(1900, 3, 1), datetime(9999, 12, 31))
NAMES = (
    "a", "A", " a", "", "=1+1", "a,b", 'q"q', "two\nlines", "é", "\x01", "\u202e", "x0", "target", "row",
    "1990", "0.5", "NaN", "Unnamed: 0", "x" * 200, "𝔘", "id", "y", "drop", "-5",
)  # fmt: skip
POOLS = {
    "float": FLOATS,
    "whole": WHOLES,
    "huge": HUGE,
    "word": WORDS,
    "moment": MOMENTS,
    "flag": (True, False),
}


def columns_of(rng: np.random.Generator, kinds: tuple[str, ...], n: int, holes: bool) -> Columns:
    """Columns of hostile cells: of one kind each, or mixed, some with holes."""
    made: Columns = {}
    for name in rng.choice(len(NAMES), size=rng.integers(1, 6), replace=False):
        chosen = rng.choice(list(kinds), size=1 if rng.random() < 0.8 else 2)
        pool = [cell for kind in chosen for cell in POOLS[kind]]
        few = [pool[i] for i in rng.integers(len(pool), size=rng.integers(1, 6))]
        cells = [few[i] for i in rng.integers(len(few), size=n)]
        if holes and rng.random() < 0.4:
            cells = [None if rng.random() < 0.2 else cell for cell in cells]
        made[NAMES[name]] = cells
    return made


# ---- writers -----------------------------------------------------------------------------------


def _delimited(columns: Columns, separator: str) -> bytes:
    text = io.StringIO()
    lines = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    lines.writerow(columns)
    lines.writerows(
        ["" if cell is None else cell for cell in row] for row in zip(*columns.values(), strict=True)
    )
    return text.getvalue().encode()


def write_jsonl(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows).encode()


def write_json(columns: Columns) -> bytes:
    """Records, or lists by name, by the number of columns."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json.dumps(rows if len(columns) % 2 else columns, default=str, indent=1).encode()


def write_zip(columns: Columns) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/t.csv", _delimited(columns, ","))
    return file.getvalue()


def write_excel(columns: Columns) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    clean = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        book.active.append(
            [clean.sub("", cell).replace("=", "≡") if isinstance(cell, str) else cell for cell in row]
        )
    book.save(file)
    return file.getvalue()


def _table(columns: Columns) -> Any:
    made = {}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        made[name] = pa.array(
            cells if len(kinds) < 2 else [None if cell is None else str(cell) for cell in cells]
        )
    return pa.table(made)


def write_parquet(columns: Columns) -> bytes:
    file = io.BytesIO()
    parquet.write_table(_table(columns), file)
    return file.getvalue()


def write_feather(columns: Columns) -> bytes:
    file = io.BytesIO()
    feather.write_feather(_table(columns), file)
    return file.getvalue()


def write_stream(columns: Columns) -> bytes:
    table, file = _table(columns), io.BytesIO()
    with ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def write_arff(columns: Columns) -> bytes:
    def quoted(text: object) -> str:
        return "'" + str(text).replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["@relation r"]
    for name, cells in columns.items():
        levels = list(dict.fromkeys(quoted(cell) for cell in cells if isinstance(cell, str)))
        lines.append(f"@attribute {quoted(name)} {'{' + ','.join(levels) + '}' if levels else 'numeric'}")
    lines.append("@data")
    for row in zip(*columns.values(), strict=True):
        cells = ("?" if c is None else quoted(c) if isinstance(c, str) else repr(c) for c in row)
        lines += [",".join(cells)]
    return "\n".join(lines).encode()


def write_npy(columns: Columns) -> bytes:
    file = io.BytesIO()
    kinds = [(name or "blank", np.array(cells).dtype) for name, cells in columns.items()]
    rows = list(zip(*columns.values(), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of letters in names, which need the third format
        np.save(file, np.array(rows, dtype=kinds))
    return file.getvalue()


def write_npz(columns: Columns) -> bytes:
    file = io.BytesIO()
    np.savez(file, X=np.array(list(columns.values()), dtype=float).T)
    return file.getvalue()


def write_idx(columns: Columns) -> bytes:
    values = np.array(list(columns.values()), dtype=">f8").T
    return bytes([0, 0, 0x0E, 2]) + struct.pack(">II", *values.shape) + values.tobytes()


ALL, NUMBERS = tuple(POOLS), ("float", "whole", "huge")
# Of each suffix: the function from columns to the bytes of a file; the names in POOLS of the cells that the
# format can hold, which must come back as they are; and whether a cell may be None, which comes back missing.
WRITERS: dict[str, tuple[Any, tuple[str, ...], bool]] = {
    ".csv": (lambda columns: _delimited(columns, ","), ALL, True),
    ".tsv": (lambda columns: _delimited(columns, "\t"), ALL, True),
    ".txt": (lambda columns: _delimited(columns, ";"), ALL, True),
    ".dat": (lambda columns: _delimited(columns, "|"), ALL, True),
    ".json": (write_json, ALL, True),
    ".zip": (write_zip, ALL, True),
    ".jsonl": (write_jsonl, ALL, True),
    ".ndjson": (write_jsonl, ALL, True),
    ".xlsx": (write_excel, ALL, True),
    ".xlsm": (write_excel, ALL, True),
    ".feather": (write_feather, ALL, True),
    ".arrow": (write_stream, ALL, True),
    ".ipc": (write_feather, ALL, True),
    ".parquet": (write_parquet, ALL, True),
    ".pq": (write_parquet, ALL, True),
    ".arff": (write_arff, ("float", "whole", "huge", "word"), True),
    ".npy": (write_npy, (*NUMBERS, "word", "flag"), False),
    ".npz": (write_npz, ("float", "whole"), False),
    ".idx": (write_idx, ("float", "whole"), False),
}


# ---- plain readings ----------------------------------------------------------------------------


def plain_columns(path: Path, suffix: str, written: Columns) -> list[list[Any]]:
    """The cells of a sound file, column by column, as another library or the writer has them."""
    if suffix in TEXT:
        text = zipfile.ZipFile(path).read("inner/t.csv") if suffix == ".zip" else path.read_bytes()
        rows = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=TEXT[suffix]))[1:]
        rows = [[None if cell.strip() in MISSING else cell for cell in row] for row in rows]
    elif suffix in (".xlsx", ".xlsm"):
        rows = list(openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True))
        rows = [
            [None if str(c).strip() in {*MISSING, "#REF!"} else c for c in row]
            for row in rows
            if set(row) != {None}
        ]
    else:  # numpy gives cells of two kinds one of them
        cells = [np.array(c).tolist() if suffix == ".npy" else c for c in written.values()]
        rows = list(zip(*cells, strict=True))
    return [list(column) for column in zip(*rows, strict=True)]


def same(cell: Any, plain: Any) -> bool:
    """Whether a cell that was read is the one in the file: every digit, every letter but outer spaces."""
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return cell is None or bool(pd.isna(cell)) or cell == ""
    if isinstance(plain, datetime):
        moment = pd.Timestamp(cell)
        return moment.tz_localize(UTC) == pd.Timestamp(plain).tz_localize(UTC) if moment.tz is None else False
    if isinstance(cell, (bool, np.bool_)) or isinstance(plain, bool):
        return str(plain).strip().lower() in (
            str(cell).lower(),
            str(float(cell)) if not isinstance(cell, str) else "",
        )
    if isinstance(plain, str) and not isinstance(cell, str):
        return float(plain) == float(cell) and (
            not plain.strip().lstrip("+-").isdigit() or int(plain) == int(cell)
        )
    if isinstance(plain, str):
        return cell.strip() == plain.strip()
    if isinstance(cell, str):
        return cell.strip() == str(plain)
    return bool(cell == plain) and (not isinstance(plain, int) or int(cell) == plain)
