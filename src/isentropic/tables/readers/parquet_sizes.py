"""Bytes that a Parquet file takes once it is unpacked, found before it is.

Few bytes may stand for any number of letters: a value is stored once and named by every row that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

BATCH_ROWS = 16_384  # rows that are unpacked at a time
_NUMBER, _OFFSET = 8, 4  # bytes of a number where the file does not say, and of where a text ends
_COPIES = 3  # of the distinct values of a column, while the first of its rows are unpacked
_SHARE = 16  # part of the budget that a batch may take when bytes are counted
_DICTIONARY_PAGE = 2


@dataclass(frozen=True, slots=True)
class _Text:
    """The part of a column of text that lies in one row group, and bounds of its letters in bytes."""

    column: str
    group: int
    n_values: int
    n_bytes: int  # as it is stored, but for the packing of its pages
    distinct: int  # those of the values that rows name by their numbers, 0 where rows hold their own
    has_prefixes: bool  # any value may be as long as all of it: values repeat the starts of others

    @property
    def least(self) -> int:
        return max(self.n_bytes - _OFFSET * self.n_values, 0)

    @property
    def most(self) -> int:
        return self.least + self.n_values * (self.n_bytes if self.has_prefixes else self.distinct)


def require_room(file: Any, stream: Any, budget: int | None, require: Callable[[int], None]) -> None:
    """Ask for the memory that all rows take, before they are unpacked: ``O(row groups)`` for columns of text.

    Letters are counted, in ``O(rows)``, only where the longest value in every row would not fit the budget.
    """
    size, texts = _sizes(file, stream)
    require(size + sum(text.least for text in texts))
    require(_COPIES * max((text.distinct for text in texts), default=0))
    if budget is None or size + sum(text.most for text in texts) <= budget:
        return
    numbered = {text.column for text in texts if text.distinct and not text.has_prefixes}
    numbered -= {text.column for text in texts if text.has_prefixes}
    reader = type(file)(stream, metadata=file.metadata, read_dictionary=sorted(numbered), pre_buffer=False)
    texts = [_measured(reader, text) if text.distinct and text.column in numbered else text for text in texts]
    if size + sum(text.most for text in texts) <= budget:
        return
    repeated = [text for text in texts if text.has_prefixes]
    numbered -= {text.column for text in repeated}
    counted = numbered | {text.column for text in repeated}
    size += sum(text.least for text in texts if text.column not in counted)
    for n_bytes in chain(_letters(reader, sorted(numbered)), _unpacked(reader, repeated, budget // _SHARE)):
        size += n_bytes
        require(size)


def _sizes(file: Any, stream: Any) -> tuple[int, list[_Text]]:
    """Bytes of all values without the letters of text, and the parts of columns of text."""
    from pyarrow.types import is_dictionary

    head, size, texts = file.metadata, 0, []
    types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    for place in range(head.num_columns):
        column = head.schema.column(place)
        is_text, kind = column.physical_type == "BYTE_ARRAY", types.get(column.path)
        if not is_text and not column.max_repetition_level:
            size += head.num_rows * _width(column, kind)
            continue
        for group in range(head.num_row_groups):
            chunk = head.row_group(group).column(place)
            size += chunk.num_values * (_OFFSET if is_text else _width(column, None))
            if not is_text or not chunk.num_values:
                continue
            text = _text(stream, chunk, group)
            if kind is not None and is_dictionary(kind):  # every batch comes with the distinct values
                size += text.least + -(-text.n_values // BATCH_ROWS) * text.distinct
            else:
                texts.append(text)
    return size, texts


def _width(column: Any, kind: Any) -> int:
    """Bytes of a value that is no text."""
    try:
        return -(-int(kind.bit_width) // 8)
    except (AttributeError, ValueError):  # inside of a list or record, or nothing but missing values
        return max(column.length or 0, _NUMBER)


def _text(stream: Any, chunk: Any, group: int) -> _Text:
    return _Text(
        chunk.path_in_schema,
        group,
        chunk.num_values,
        chunk.total_uncompressed_size,
        _distinct_bytes(stream, chunk),
        "DELTA_BYTE_ARRAY" in chunk.encodings,
    )


def _distinct_bytes(stream: Any, chunk: Any) -> int:
    """Unpacked size of the page of distinct values before all others, by its head, or 0 without one."""
    stream.seek(min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset))
    head = iter(stream.read(16))
    fields: list[int] = []
    for mark in head:  # Thrift's compact protocol: the kind of page, then its size
        if mark != 0x15 or len(fields) == 2:
            break
        fields.append(_zigzag(head))
    is_dictionary = len(fields) == 2 and fields[0] == _DICTIONARY_PAGE
    return max(fields[1], 0) if is_dictionary else 0


def _zigzag(data: Any) -> int:
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return (number >> 1) ^ -(number & 1)


def _measured(reader: Any, text: _Text) -> _Text:
    """With the length of its longest value for that of all distinct ones: the first row comes with them."""
    batch = next(reader.iter_batches(1, row_groups=[text.group], columns=[text.column], use_threads=False))
    distinct = [lengths for column in batch.columns for lengths, _ in _lengths(column)]
    if not distinct:  # of a type that has no numbers: it is counted as it comes
        return replace(text, n_bytes=max(text.n_bytes, text.distinct), has_prefixes=True)
    return replace(
        text, distinct=max((int(lengths.max()) for lengths in distinct if len(lengths)), default=0)
    )


def _letters(reader: Any, columns: list[str]) -> Iterator[int]:
    """Bytes of all values of each column, one after the other, unpacked as numbers of distinct values."""
    for column in columns:
        for batch in reader.iter_batches(BATCH_ROWS, columns=[column], use_threads=False):
            for lengths, numbers in chain.from_iterable(map(_lengths, batch.columns)):
                yield int(lengths[numbers].sum())


def _lengths(column: Any) -> Iterator[tuple[Any, Any]]:
    """Bytes of each distinct value, and the number of the one in each row; inside of lists, too."""
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        lengths = compute.binary_length(column.dictionary).to_numpy(zero_copy_only=False)
        yield lengths, column.indices.drop_null().to_numpy()
    elif types.is_map(column.type):
        yield from chain(_lengths(column.keys), _lengths(column.items))
    elif types.is_nested(column.type):
        parts = column.flatten()
        yield from chain.from_iterable(map(_lengths, parts if isinstance(parts, list) else [parts]))


def _unpacked(reader: Any, texts: list[_Text], room: int) -> Iterator[int]:
    """Bytes of columns whose values are not numbered, a few rows at a time."""
    import pyarrow

    widest: dict[str, int] = {}
    for text in texts:
        widest[text.column] = max(widest.get(text.column, 1), text.n_bytes)
    since = 0
    for column, width in widest.items():
        n_rows = min(max(room // width, 1), BATCH_ROWS)
        for batch in reader.iter_batches(n_rows, columns=[column], use_threads=False):
            n_bytes = batch.nbytes
            yield max(n_bytes - _OFFSET * batch.num_rows, 0)
            since += n_bytes
            if since > room:  # what batches leave behind is given back late, and by the thread that took it
                del batch
                pyarrow.default_memory_pool().release_unused()
                since = 0
