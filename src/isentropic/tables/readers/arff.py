"""ARFF: dense rows of numeric, nominal and date attributes; anything else is an error with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..._core.errors import FileFormatError, listing
from ..cells import exact_number
from ..raw import require_distinct, require_few
from .streams import open_stream, require_text

_BLOCK = 4096  # rows held as text at a time
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"(?i)@attribute\s+(?P<name>{_QUOTED}|[^\s{{]+)\s*(?P<type>.+)")
_FIELD = re.compile(rf"\s*(?P<field>{_QUOTED}|[^\s,'\"][^,]*|)\s*(?P<end>,|$)")
_DATE = re.compile(rf"(?i)date\s*(?P<format>{_QUOTED}|\S+)?")
_JAVA_DATE = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
}
_JAVA_TOKEN = re.compile(r"'(?P<literal>[^']*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z'])")
_DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: numeric, nominal with its levels, or a date with its strptime format."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A position in the file, for error messages."""

    path: Path
    line: int

    def error(self, must_be: str, got: str, hint: str = "Correct the line.") -> FileFormatError:
        return FileFormatError(f"{self.path}, line {self.line}, must be {must_be}, got {got}. {hint}")


def read_arff(path: Path) -> pd.DataFrame:
    """The frame of a file: floats, categories in declared order, dates; ``?`` is missing."""
    require_text(path, ",")
    try:
        with open_stream(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as text:
            lines = _content(text)
            attributes = _attributes(path, lines)
            blocks = _blocks(path, attributes, lines)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be UTF-8 text, got byte 0x{error.object[error.start]:02x}. Save it as UTF-8."
        ) from error
    columns = {
        attribute.name: _joined(attribute, [block[position] for block in blocks])
        for position, attribute in enumerate(attributes)
    }
    return pd.DataFrame(columns)


def _content(text: TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Numbered lines that are neither empty nor comments."""
    for number, line in enumerate(text, start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number, stripped


# ---- the head ----------------------------------------------------------------------------------


def _attributes(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[Attribute, ...]:
    attributes: list[Attribute] = []
    number = 0
    for number, line in lines:
        word = line.split(maxsplit=1)[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            attributes.append(_attribute(line, _Place(path, number)))
        elif word != "@relation":
            raise _Place(path, number).error("@relation, @attribute or @data", repr(line[:60]))
    else:
        raise _Place(path, number).error("followed by @data", "the end of the file", "Download it again.")
    if not attributes:
        raise _Place(path, number).error("preceded by @attribute lines", "none")
    require_distinct([attribute.name for attribute in attributes], path.name)
    require_few(len(attributes), path)
    return tuple(attributes)


def _attribute(line: str, place: _Place) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise place.error("@attribute NAME TYPE", repr(line[:60]))
    name, kind = _unquoted(match["name"]), match["type"].strip()
    if kind.lower() in ("numeric", "real", "integer"):
        return Attribute(name, "numeric")
    if kind.startswith("{") and kind.endswith("}"):
        levels = tuple(_unquoted(field) for field in _fields(kind[1:-1], place))
        if len(set(levels)) < len(levels):
            raise place.error("levels that differ", listing(levels))
        return Attribute(name, "nominal", levels)
    date = _DATE.fullmatch(kind)
    if date is not None:
        return Attribute(name, "date", format=_strptime(_unquoted(date["format"] or _DEFAULT_DATE), place))
    raise place.error(
        f"numeric, nominal {{...}} or date for {name!r}",
        f"{kind[:40]!r}",
        "Convert the attribute, or remove it.",
    )


def _strptime(java: str, place: _Place) -> str:
    parts = []
    for token in _JAVA_TOKEN.finditer(java):
        letters = token["letters"]
        if letters is not None and letters not in _JAVA_DATE:
            raise place.error(f"a date format of {', '.join(_JAVA_DATE)}", repr(java), "Rewrite the dates.")
        parts.append(
            _JAVA_DATE[letters] if letters else (token["literal"] or token["other"] or "").replace("%", "%%")
        )
    return "".join(parts)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


# ---- the rows ----------------------------------------------------------------------------------


def _blocks(
    path: Path, attributes: tuple[Attribute, ...], lines: Iterator[tuple[int, str]]
) -> list[list[npt.NDArray[Any]]]:
    """Compact columns of ``_BLOCK`` rows each, so that the text of a large file is never held whole."""
    blocks = []
    while batch := list(islice(lines, _BLOCK)):
        places = [_Place(path, number) for number, _ in batch]
        rows = [_row(line, len(attributes), place) for (_, line), place in zip(batch, places, strict=True)]
        columns = zip(*rows, strict=True)
        blocks.append([_values(a, fields, places) for a, fields in zip(attributes, columns, strict=True)])
    return blocks or [[np.empty(0) for _ in attributes]]


def _row(line: str, n_fields: int, place: _Place) -> list[str]:
    if line.startswith("{"):
        raise place.error("a dense row", "a sparse one ({...})", "Convert the file to dense ARFF.")
    fields = _fields(line, place)
    if len(fields) != n_fields:
        raise place.error(f"{n_fields} fields, one for each attribute", str(len(fields)))
    return fields


def _fields(line: str, place: _Place) -> list[str]:
    """Fields between commas, still quoted, so that '?' and ? differ."""
    if "'" not in line and '"' not in line:
        return [field.strip() for field in line.split(",")]
    fields, position, end = [], 0, ","
    while end == ",":
        match = _FIELD.match(line, position)
        if match is None:
            raise place.error("fields with balanced quotes", repr(line[position : position + 40]))
        fields.append(match["field"].strip())
        position, end = match.end(), match["end"]
    return fields


def _values(attribute: Attribute, fields: Sequence[str], places: Sequence[_Place]) -> npt.NDArray[Any]:
    if attribute.kind == "numeric":
        numbers = [_number(field, attribute, place) for field, place in zip(fields, places, strict=True)]
        return np.array(numbers, dtype=object if any(isinstance(value, int) for value in numbers) else float)
    if attribute.kind == "nominal":
        codes = {level: code for code, level in enumerate(attribute.levels)}
        return np.array(
            [_code(field, codes, attribute, place) for field, place in zip(fields, places, strict=True)]
        )
    texts = pd.Series([None if field == "?" else _unquoted(field) for field in fields], dtype=object)
    try:
        moments = pd.to_datetime(texts, format=attribute.format, errors="coerce")
    except (ValueError, re.error):  # such as a format that names the year twice
        raise places[0].error(
            f"of a date format that can be read for {attribute.name!r}", attribute.format
        ) from None
    lost = np.flatnonzero(moments.isna() & texts.notna())
    if len(lost):
        raise places[lost[0]].error(
            f"a date ({attribute.format}) for {attribute.name!r}", repr(texts[lost[0]])
        )
    return np.asarray(moments.to_numpy(dtype="datetime64[us]"))


def _number(field: str, attribute: Attribute, place: _Place) -> float | int:
    if field == "?":
        return np.nan
    try:
        return exact_number(field)
    except ValueError:
        raise place.error(f"a number or ? for {attribute.name!r}", repr(field)) from None


def _code(field: str, codes: dict[str, int], attribute: Attribute, place: _Place) -> int:
    if field == "?":
        return -1
    level = _unquoted(field)
    if level not in codes:
        raise place.error(f"one of {listing(attribute.levels)} for {attribute.name!r}", repr(level))
    return codes[level]


def _joined(attribute: Attribute, parts: list[npt.NDArray[Any]]) -> Any:
    values = np.concatenate(parts)
    if attribute.kind == "nominal":
        return pd.Categorical.from_codes(values.astype(np.int64), categories=list(attribute.levels))
    return values
