"""Bytes that the record batches of an Arrow file take once they are unpacked, read from its heads alone.

A batch of few bytes may stand for any number, and pyarrow unpacks it whole. What is read here are the
FlatBuffers of Arrow's columnar format (Message.fbs, File.fbs), by the positions that its own reader follows.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from struct import calcsize, iter_unpack, unpack_from
from typing import BinaryIO

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
        n_bytes = sum(_unpacked(stream, body + offset, length) for offset, length in buffers)
    else:
        n_bytes = sum(length for _, length in buffers)
    return BatchSize(batch.number(0, "q") if kind == _BATCH else 0, n_bytes)


def _unpacked(stream: BinaryIO, place: int, length: int) -> int:
    """Bytes of a buffer, which lie before what is packed."""
    if not length:
        return 0
    stream.seek(place)
    size = int.from_bytes(stream.read(8), "little", signed=True)
    return length - 8 if size == _AS_IS else max(size, 0)
