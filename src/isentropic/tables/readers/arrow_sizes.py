"""Bytes that Arrow and Parquet files take once they are unpacked, found before they are.

Few bytes may stand for any number: a batch is packed, and a value is stored once and named by every row that
has it. pyarrow unpacks a batch whole.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from struct import calcsize, iter_unpack, unpack_from
from typing import Any, BinaryIO

# ---- Arrow: the heads of the record batches ------------------------------------------------------
#
# What is read here are the FlatBuffers of Arrow's columnar format (Message.fbs, File.fbs), by the positions
# that its own reader follows.

MAGIC = b"ARROW1"
_CONTINUED = 0xFFFFFFFF  # before the length of a message, since Arrow 0.15
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_AS_IS = -1  # in the place of a length: this buffer was not worth packing
_OLD_PACKING = b"ARROW:experimental_compression"  # where Arrow 0.17 says that a batch is packed


@dataclass(frozen=True, slots=True)
class BatchSize:
    """Rows of a record batch, none for a dictionary, and bytes of its buffers once unpacked."""

    n_rows: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a FlatBuffer: fields by number, each of them optional."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, unpack_from("<I", data)[0])

    def number(self, field: int, kind: str, default: int = 0) -> int:
        place = self._place(field)
        return default if place is None else int(unpack_from(f"<{kind}", self.data, place)[0])

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return None if place is None else _Table(self.data, self._target(place))

    def structs(self, field: int, kind: str) -> list[tuple[int, ...]]:
        """A vector of structs, each of them unpacked."""
        place = self._place(field)
        if place is None:
            return []
        start = self._target(place)
        stop = start + 4 + unpack_from("<I", self.data, start)[0] * calcsize(kind)
        return list(iter_unpack(kind, self.data[start + 4 : stop]))

    def _place(self, field: int) -> int | None:
        fields = self.place - unpack_from("<i", self.data, self.place)[0]
        slot = 4 + 2 * field
        if slot + 2 > unpack_from("<H", self.data, fields)[0]:
            return None
        return self.place + offset if (offset := unpack_from("<H", self.data, fields + slot)[0]) else None

    def _target(self, place: int) -> int:
        return place + int(unpack_from("<I", self.data, place)[0])


def batch_sizes(stream: BinaryIO) -> Iterator[BatchSize]:
    """The size of every record batch and dictionary of a file or stream: ``O(buffers)``."""
    stream.seek(0)
    places = _places_in_file(stream) if stream.read(len(MAGIC)) == MAGIC else _places_in_stream(stream)
    for place in places:
        message, body = _message_at(stream, place)
        if message is not None and (size := _size(stream, message, body)) is not None:
            yield size


def _places_in_file(stream: BinaryIO) -> Iterator[int]:
    """Where the messages lie, by the footer: several of its blocks may be the same."""
    end = stream.seek(-len(MAGIC) - 4, io.SEEK_END)
    n_bytes = int.from_bytes(stream.read(4), "little")
    stream.seek(end - n_bytes)
    footer = _Table.root(stream.read(n_bytes))
    for field in (_DICTIONARY, _BATCH):
        for offset, *_ in footer.structs(field, "<qi4xq"):
            yield offset


def _places_in_stream(stream: BinaryIO) -> Iterator[int]:
    place = 0
    while True:
        yield place
        message, body = _message_at(stream, place)
        if message is None:
            return
        place = body + max(message.number(3, "q"), 0)


def _message_at(stream: BinaryIO, place: int) -> tuple[_Table | None, int]:
    """The head of a message, None at the end, and where its body begins."""
    stream.seek(place)
    n_bytes = int.from_bytes(stream.read(4), "little")
    if n_bytes == _CONTINUED:
        n_bytes, place = int.from_bytes(stream.read(4), "little"), place + 4
    return (_Table.root(stream.read(n_bytes)) if n_bytes else None), place + 4 + n_bytes


def _size(stream: BinaryIO, message: _Table, body: int) -> BatchSize | None:
    kind, head = message.number(1, "B"), message.table(2)
    batch = head.table(1) if head is not None and kind == _DICTIONARY else head
    if batch is None or kind not in (_DICTIONARY, _BATCH):
        return None
    buffers = batch.structs(2, "<qq")
    is_packed = batch.table(3) is not None or _OLD_PACKING in message.data
    if is_packed:
        n_bytes = sum(_buffer_size(stream, body + offset, length) for offset, length in buffers)
    else:
        n_bytes = sum(length for _, length in buffers)
    return BatchSize(batch.number(0, "q") if kind == _BATCH else 0, n_bytes)


def _buffer_size(stream: BinaryIO, place: int, length: int) -> int:
    """Bytes of a buffer, which lie before what is packed."""
    if not length:
        return 0
    stream.seek(place)
    size = int.from_bytes(stream.read(8), "little", signed=True)
    return length - 8 if size == _AS_IS else max(size, 0)


# ---- Parquet: the metadata, and the heads of the pages of distinct values ------------------------

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
