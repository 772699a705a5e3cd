"""Sources of tables: files, folders, built-in sets, OpenML, frames; and the catalogue of what is at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from .._core.errors import (
    FileFormatError,
    InvalidInputError,
    nearest,
    notice,
    plural,
    require,
    require_count,
    require_one_of,
)
from .._core.files import path_of
from .._core.values import Floats
from .cells import read_numbers
from .folder import SETTING, FolderSet, find_openml, find_set, folder_sets, manifest_path, read_set
from .raw import RawTable, require_readable
from .readers.arrays import label_candidates, labels_beside
from .readers.arrow import without_arrow_types
from .readers.layout import AUTO, Layout
from .readers.table_files import SHEETS, kind_of_file, read_file, without_sheet


def read_openml(word: str) -> RawTable:
    """The set with this name, name@version or number, its nominal columns as declared, its default target."""
    bunch = _fetch(word)
    targets = list(bunch.target_names or [])
    name = str((bunch.details or {}).get("name", word))
    return RawTable(bunch.frame, name, targets[0] if len(targets) == 1 else None, declared=True)


def _fetch(word: str) -> Any:
    from sklearn.datasets import fetch_openml

    name, _, version = word.rpartition("@")
    which: dict[str, Any] = {"data_id": int(word)} if word.isdecimal() else {"name": word}
    if name and version.isdecimal():
        which = {"name": name, "version": int(version)}
    advice = (
        "Check the name at openml.org and the network, download the file and load it by its path, or set "
        "ISENTROPIC_DATA to a folder that has it."
    )
    try:
        return fetch_openml(**which, as_frame=True, parser="auto")
    except (HTTPError, URLError, OSError) as error:
        raise FileFormatError(f"openml:{word} must be within reach, got {error}. {advice}") from error
    except ValueError as error:  # unknown to OpenML, or sparse
        raise FileFormatError(
            f"openml:{word} must be a dense table on OpenML, got: {error} {advice}"
        ) from error


# ---- tidy frames ---------------------------------------------------------------------------------


_TOTAL = re.compile(
    r"(?i:(grand |overall |sub)?(total|sum|mean|average|avg)s?[:.]?|gesamt|summe|mittelwert|durchschnitt|∑)"
    r"(?: .{0,30})?"
)
_FEWEST = 3  # rows above a total
_CLOSE = 1e-4  # relative: totals are often rounded


def tidy_frame(raw: RawTable) -> RawTable:
    """The table without empty rows and without a last row of totals, each named in a notice."""
    return without_total(without_empty_rows(raw))


def without_empty_rows(raw: RawTable) -> RawTable:
    """The table without rows that hold no value; of one column they are missing values. ``O(n)`` mostly."""
    frame = raw.frame
    if frame.shape[1] < 2 or raw.reduction is not None:
        return raw
    empty = np.arange(len(frame))
    for j in range(frame.shape[1]):
        cells = frame.iloc[empty, j]
        is_blank = cells.isna().to_numpy(dtype=bool)
        if not types.is_numeric_dtype(cells.dtype):
            is_blank = is_blank | (cells.astype(object) == "").to_numpy(dtype=bool)
        empty = empty[is_blank]
        if not len(empty):
            return raw
    if len(empty) == len(frame):
        return raw
    notice(f"{raw.name} has {plural(len(empty), 'empty row')} of {len(frame)}, left out.")
    return _without_rows(raw, empty)


def without_total(raw: RawTable) -> RawTable:
    """The table without a last row that is called a total, or a mean, and is that of the rows above."""
    frame = raw.frame
    if len(frame) <= _FEWEST:
        return raw
    last = frame.iloc[-1]
    words = [cell.strip() for cell in last if isinstance(cell, str) and cell.strip()]
    if not words or _TOTAL.fullmatch(words[0]) is None:
        return raw
    columns = [values for name in frame.columns if (values := _numbers(frame[name])) is not None]
    totals = [values for values in columns if not np.isnan(values[-1])]
    for what, of in (("sum", np.nansum), ("mean", np.nanmean)):
        if totals and all(np.isclose(of(v[:-1]), v[-1], rtol=_CLOSE, atol=0.0) for v in totals):
            notice(
                f"the last row of {raw.name}, {words[0]!r}, is the {what} of the rows above in "
                f"{plural(len(totals), 'column')}, and is left out. Rename it to keep it."
            )
            return _without_rows(raw, np.array([len(frame) - 1]))
    return raw


def _numbers(series: pd.Series) -> Floats | None:
    """The numbers in a column, also in text; None where it has none above its last row."""
    if types.is_bool_dtype(series.dtype) or isinstance(series.dtype, pd.CategoricalDtype):
        return None
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return None if np.isnan(values[:-1]).all() else values
    if types.infer_dtype(series, skipna=True) != "string":
        return None
    words = series.map(str.strip, na_action="ignore")
    counts = words[words != ""].value_counts()
    reading = read_numbers({str(word): int(n) for word, n in counts.items()})
    return None if reading is None or reading.strays else words.map(reading.values).to_numpy(dtype=np.float64)


def _without_rows(raw: RawTable, rows: npt.NDArray[np.intp]) -> RawTable:
    frame = raw.frame.iloc[np.setdiff1d(np.arange(len(raw.frame)), rows)]
    is_counted = isinstance(raw.frame.index, pd.RangeIndex)
    return replace(raw, frame=frame.reset_index(drop=True) if is_counted else frame)


# ---- sources -------------------------------------------------------------------------------------


_PREFIX = re.compile(r"(?P<prefix>[A-Za-z]{2,}):(?P<name>.*)", re.DOTALL)  # not C:\table.csv


@dataclass(frozen=True, slots=True)
class Entry:
    """One available set. :func:`load` takes its ``source``; features are counted before encoding."""

    source: str
    n_samples: int
    n_features: int
    n_classes: int | None  # None where the target is a number
    origin: str  # "builtin" or "folder"
    note: str = ""


def catalogue() -> tuple[Entry, ...]:
    """The built-in sets, and those of the data folder whose files are there.

    >>> from isentropic.datasets import catalogue
    >>> iris = catalogue()[0]
    >>> iris.source, iris.n_samples, iris.n_features, iris.n_classes
    ('builtin:iris', 150, 4, 3)
    """
    built_in = [
        Entry(f"builtin:{name}", b.n_samples, b.n_features, b.n_classes, "builtin", b.note)
        for name, b in BUILTIN.items()
    ]
    return (*built_in, *(_entry(item) for item in folder_sets() if item.file is not None))


def _entry(item: FolderSet) -> Entry:
    return Entry(item.name, item.n_samples, item.n_features, item.n_classes, "folder", item.openml_name)


def read_source(
    source: Any,
    target: str | None,
    text_columns: frozenset[str],
    n_samples: int | None,
    random_state: int,
    layout: Layout = AUTO,
) -> RawTable:
    """The columns of any source: names that differ, at least one row, and no rows that are none."""
    is_builtin = isinstance(source, str) and source.startswith("builtin:")
    if is_builtin or not isinstance(source, str | os.PathLike):
        layout.require_none("a source that is no text file")
    if is_builtin:
        return require_readable(read_builtin(source.removeprefix("builtin:"), n_samples, random_state))
    require_fixed_size(n_samples, repr(source) if isinstance(source, str | os.PathLike) else "a table")
    if isinstance(source, pd.DataFrame):
        return require_readable(RawTable(without_arrow_types(source), "table"))
    if isinstance(source, os.PathLike):
        return _read_path(path_of(source), target, text_columns, layout)
    # polars, Arrow and others speak it; a Series too, which has no columns
    if hasattr(source, "__arrow_c_stream__") and hasattr(source, "columns"):
        from .readers.arrow import frame_of_stream

        return require_readable(RawTable(frame_of_stream(source), "table"))
    if not isinstance(source, str):
        raise InvalidInputError(
            "source must be text, a path, a frame (pandas, polars, Arrow) or a sparse matrix, got "
            f"{type(source).__name__}. Give an array as pandas.DataFrame(X), a lazy frame once it is "
            "collected."
        )
    return require_readable(_read_named(source, target, text_columns, layout))


def _read_path(path: Path, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    """The table in a file, without rows that are none, where a format has such."""
    raw = require_readable(read_file(path, target, text_columns, layout))
    return tidy_frame(raw) if kind_of_file(path) in SHEETS else raw


def _read_named(source: str, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    match = _PREFIX.fullmatch(source)
    entry = _set_of(source)
    if entry is not None:
        layout.require_none("a set of the data folder")
        return read_set(entry)
    if match is not None and match["prefix"] == "openml":
        layout.require_none("a set of OpenML")
        return read_openml(match["name"])
    path = path_of(source)
    is_bare = path.name == source and kind_of_file(path) is None
    if os.path.exists(path):  # pathlib's raises where a folder is closed or a name too long
        return _read_path(path, target, text_columns, layout)
    if match is not None:
        raise _unknown_prefix(source, match["prefix"])
    if is_bare:
        raise _unknown_name(source)
    return read_file(path, target, text_columns, layout)  # says why the file cannot be read


def input_files(source: str, target: str | None = None) -> list[Path]:
    """Every file that reading a source opens: of its table, its labels, and the list of sets."""
    if source.startswith("builtin:"):
        return []
    entry, manifest = _set_of(source), manifest_path()
    if entry is not None and manifest is not None:
        return [*entry.files(), manifest]
    path = without_sheet(path_of(source))[0]
    kind = kind_of_file(path)
    if target is not None and kind in (".idx", ".npy"):
        return [path, *label_candidates(path, target)]
    beside = labels_beside(path) if kind == ".idx" else None
    return [path] if beside is None else [path, beside]


def _set_of(source: str) -> FolderSet | None:
    """The set of the data folder that a source names, if it is one."""
    match = _PREFIX.fullmatch(source)
    if match is not None and match["prefix"] == "openml":
        return find_openml(match["name"])
    path = path_of(source)
    is_bare = path.name == source and kind_of_file(path) is None
    return find_set(source) if is_bare else None


def _unknown_prefix(source: str, prefix: str) -> InvalidInputError:
    is_address = prefix in ("http", "https", "ftp", "file")
    hint = "Download the file first." if is_address else nearest(prefix, ["builtin", "openml"]).strip()
    return InvalidInputError(
        f"source must start with builtin: or openml:, or be a file, got {source!r}. {hint}".strip()
    )


def _unknown_name(source: str) -> FileFormatError:
    at_hand = [entry.source for entry in catalogue()]
    words = {name.removeprefix("builtin:"): name for name in reversed(at_hand)}
    guess = nearest(source, words)
    for word, full in words.items():
        guess = guess.replace(repr(word), repr(full))
    where = "" if os.environ.get(SETTING) else f" {SETTING} is not set, so there is no data folder."
    return FileFormatError(
        f"source must be a file, a set of the data folder, builtin:NAME or openml:NAME, got {source!r}. "
        f"{guess}isentropic.datasets.catalogue() lists the sets at hand.{where}"
    )


# ---- Built-in sets -------------------------------------------------------------------------------


_XYZ = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Builtin:
    """One built-in set; ``make`` takes ``n_samples`` and ``random_state`` when it is generated."""

    make: Callable[..., RawTable]
    n_samples: int
    n_features: int
    n_classes: int | None  # None where the target is a number
    generated: bool
    note: str


def read_builtin(name: str, n_samples: int | None, random_state: int) -> RawTable:
    """The set of this name; ``n_samples`` is for the generated ones."""
    require_one_of("builtin", name, BUILTIN)
    builtin = BUILTIN[name]
    if not builtin.generated:
        require_fixed_size(n_samples, f"builtin:{name}")
        return builtin.make(name)
    wanted = builtin.n_samples if n_samples is None else n_samples
    size = require_count("n_samples", wanted, "a positive integer or None")
    return builtin.make(name, size, random_state)


def require_fixed_size(n_samples: int | None, source: str) -> None:
    """Raise when a size is asked of a source that has its own."""
    generated = ", ".join(name for name, builtin in BUILTIN.items() if builtin.generated)
    require(
        n_samples is None, "n_samples", f"None for {source}", n_samples, f"It sets the size of {generated}."
    )


# ---- scikit-learn's tables ---------------------------------------------------------------------


def _classic(loader: str, *, one_unit: bool = False) -> Callable[[str], RawTable]:
    def make(name: str) -> RawTable:
        from sklearn import datasets

        bunch: Any = getattr(datasets, loader)()
        frame = pd.DataFrame(bunch.data, columns=list(bunch.feature_names))
        return _classes(frame, bunch.target, tuple(map(str, bunch.target_names)), name, one_unit)

    return make


def _classes(
    frame: pd.DataFrame, codes: Any, names: tuple[str, ...], name: str, one_unit: bool = True
) -> RawTable:
    frame["target"] = pd.Categorical.from_codes(codes, categories=list(names))
    return RawTable(frame, name, "target", one_unit)


# ---- generated sets ----------------------------------------------------------------------------


def _swiss_roll(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_swiss_roll

    X, t = make_swiss_roll(n_samples, hole=name == "swiss-hole", random_state=random_state)
    return _positions(X, t, name)


def _s_curve(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_s_curve

    X, t = make_s_curve(n_samples, random_state=random_state)
    return _positions(X, t, name)


def _positions(X: Floats, t: Floats, name: str) -> RawTable:
    frame = pd.DataFrame(X, columns=list(_XYZ))
    frame["position"] = t
    return RawTable(frame, name, "position", one_unit=True)


def _four_cluster_roll(name: str, n_samples: int, random_state: int) -> RawTable:
    """Four unit Gaussians at (7.5 or 12.5, 7.5 or 12.5), rolled by ``(x cos x, y, x sin x)``."""
    centres = np.array([(7.5, 7.5), (7.5, 12.5), (12.5, 7.5), (12.5, 12.5)])
    codes = np.sort(np.arange(n_samples) % 4)
    x, y = (centres[codes] + np.random.default_rng(random_state).standard_normal((n_samples, 2))).T
    frame = pd.DataFrame({"x": x * np.cos(x), "y": y, "z": x * np.sin(x)})
    return _classes(frame, codes, tuple(f"({a:g}, {b:g})" for a, b in centres), name)


def _two_moons(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_moons

    X, codes = make_moons(n_samples, noise=0.05, random_state=random_state)
    return _classes(pd.DataFrame(X, columns=list(_XYZ[:2])), codes, ("upper", "lower"), name)


def _blobs(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_blobs

    X, codes = make_blobs(n_samples, n_features=10, centers=5, random_state=random_state)[:2]
    return _classes(pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]), codes, tuple("01234"), name)


BUILTIN = {
    "iris": Builtin(_classic("load_iris"), 150, 4, 3, False, "flowers of three species"),
    "wine": Builtin(_classic("load_wine"), 178, 13, 3, False, "chemistry of wines from three growers"),
    "breast-cancer": Builtin(_classic("load_breast_cancer"), 569, 30, 2, False, "cell nuclei, Wisconsin"),
    "digits": Builtin(_classic("load_digits", one_unit=True), 1797, 64, 10, False, "8 x 8 images of digits"),
    "swiss-roll": Builtin(_swiss_roll, 1000, 3, None, True, "a sheet rolled up; target: position along it"),
    "swiss-hole": Builtin(_swiss_roll, 1000, 3, None, True, "the same with a hole"),
    "s-curve": Builtin(_s_curve, 1000, 3, None, True, "a sheet bent to an S; target: position along it"),
    "four-cluster-roll": Builtin(_four_cluster_roll, 1600, 3, 4, True, "four Gaussians on a swiss roll"),
    "two-moons": Builtin(_two_moons, 1000, 2, 2, True, "two interleaved half circles, noise 0.05"),
    "blobs": Builtin(_blobs, 1000, 10, 5, True, "five Gaussians in ten dimensions"),
}
