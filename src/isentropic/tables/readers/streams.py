"""Bytes of files: within the memory budget, unpacked (.gz, .bz2, .xz, .zst) as they are read."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..._core.errors import FileFormatError, IsentropicError, MissingExtraError, require_extra
from ..._core.runtime import require_memory

PACKINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_CHUNK = 1 << 16
_WIDEST = 1 << 27  # bytes of a window: what a file may ask for to unpack it

DAMAGE = (
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    lzma.LZMAError,
)  # what unpacking raises, beside a plain OSError


def packing_of(path: Path) -> str | None:
    """The suffix that says how a file is packed, or None."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKINGS else None


def plain_suffix(path: Path) -> str:
    """The suffix that says what a file holds, packed or not."""
    packing = packing_of(path)
    return Path(path.name.lower().removesuffix(packing or "")).suffix


def open_packed(path: Path, packing: str) -> BinaryIO:
    """The bytes of a packed file, unpacked as they are read."""
    if packing == ".zst":
        require_extra("zstd", "A .zst file")
        return io.BufferedReader(_Zstd(path))
    by_suffix: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    stream: BinaryIO = by_suffix[packing](path)
    return stream


class _Zstd(io.RawIOBase):
    """A reader that notices the missing end of a file: that of zstandard takes it for the end.

    It unpacks one block of a frame at a time, at most 128 KiB: a few bytes may stand for any number.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._ready = memoryview(b"")
        self._blocks = self._unpacked()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(block)
        part = self._ready[: len(buffer)]
        buffer[: len(part)] = part
        self._ready = self._ready[len(part) :]
        return len(part)

    def _unpacked(self) -> Iterator[bytes]:
        """The content of each block of each frame."""
        import zstandard

        while self._file.peek(1):
            frame = zstandard.ZstdDecompressor(max_window_size=_WIDEST).decompressobj()
            try:
                for packed in _zstd_blocks(self._file):
                    yield frame.decompress(packed)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from error
            if not frame.eof:
                raise EOFError("the end is missing")

    def close(self) -> None:
        self._file.close()
        super().close()


_LONGEST_HEADER = 18  # bytes of a zstd frame before its first block
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)  # first bytes of a zstd frame that holds no content
_ONE_VALUE = 1  # the type of a zstd block that is one byte, many times


def _zstd_blocks(file: io.BufferedReader) -> Iterator[bytes]:
    """The next frame of a zstd file (RFC 8878) in pieces: its header, each block, its checksum."""
    import zstandard

    place, start = file.tell(), file.read(_LONGEST_HEADER)
    file.seek(place)
    if int.from_bytes(start[:4], "little") in _SKIPPABLE:
        yield (head := file.read(8))
        size = int.from_bytes(head[4:], "little")
        while size and (part := file.read(min(size, _CHUNK))):
            yield part
            size -= len(part)
        return
    yield file.read(zstandard.frame_header_size(start))
    is_last = False
    while not is_last:
        head = file.read(3)
        number = int.from_bytes(head, "little")
        is_last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
        yield head + file.read(1 if kind == _ONE_VALUE else size)
        if len(head) < 3:
            return
    if zstandard.get_frame_parameters(start).has_checksum:
        yield file.read(4)


# ---- streams -------------------------------------------------------------------------------------


_SCANNED = 1 << 20  # bytes that a scan holds at a time
_LONGEST_REASON = 200  # letters of another library's message
# letters of UTF-8 of several bytes, and bytes that are none in the encoding of Windows
_NOT_CP1252 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x81\x8d\x8f\x90\x9d]"
)
_PER_FIELD = 16  # bytes that a field of text takes as a number, beside the text itself
_WINDOWS = {".xz": 1 << 26, ".zst": _WIDEST}  # bytes at most that unpacking looks back to, and holds


def require_file(path: Path) -> None:
    """Raise unless the path is a file, not empty, that can fit into memory."""
    try:
        is_folder, size = path.is_dir(), path.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileFormatError(f"{path} must be a file, got {reason}. Check the path.") from error
    if is_folder:
        raise FileFormatError(f"{path} must be a file, got a folder. Name a file in it.")
    if not path.is_file():
        raise FileFormatError(f"{path} must be a file, got a device or a pipe. Write its content to a file.")
    if not size:
        raise FileFormatError(f"{path} must hold a table, got an empty file. Write or download it again.")
    require_memory(size, f"reading {path.name}", "Keep fewer columns or rows in the file.")


@contextmanager
def read_as(path: Path, what: str, again: str = "Write or download it again.") -> Iterator[None]:
    """Turn errors of a library about a damaged file into one sentence: ``path must be what, got ...``."""
    try:
        yield
    except IsentropicError:
        raise
    except Exception as error:  # a damaged file can fail anywhere
        text = str(error).partition("\n")[0][:_LONGEST_REASON] or type(error).__name__
        raise FileFormatError(f"{path} must be {what}, got {text}. {again}") from error


def _is_packed(path: Path) -> bool:
    return packing_of(path) is not None


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked when its name says so; what goes wrong becomes a clear error."""
    packing = packing_of(path)
    try:
        stream = open_packed(path, str(packing)) if _is_packed(path) else path.open("rb")
    except MissingExtraError:
        raise
    except OSError as error:
        raise FileFormatError(
            f"{path} must be readable, got {error.strerror}. Check its permissions."
        ) from error
    with stream:
        try:
            yield stream
        except IsentropicError:
            raise
        except (*DAMAGE, OSError) as error:
            if packing is None:
                raise
            raise FileFormatError(
                f"{path} must be a whole {PACKINGS[packing]} file, got one that is cut off or damaged "
                f"({error}). Download it again."
            ) from error


def require_start(path: Path, magic: bytes, what: str) -> None:
    """Raise unless the file starts with the bytes that mark its kind."""
    with open_stream(path) as stream:
        start = stream.read(len(magic))
    if start != magic:
        raise FileFormatError(
            f"{path} must be {what}, which starts with {magic!r}, got {start!r}. Give it the suffix of what "
            "it is."
        )


def require_text(path: Path, delimiter: str) -> None:
    """Raise unless the file is text in UTF-8, not binary, whose table fits the budget."""
    if text_encoding(path, delimiter) == "utf-16":
        raise FileFormatError(f"{path} must be UTF-8 text, got UTF-16. Save it as UTF-8.")


def text_encoding(path: Path, delimiter: str, *, in_parts: bool = False) -> str:
    """Encoding of a text file: ``"utf-8"``, ``"utf-16"`` by its first bytes, or ``"cp1252"``.

    Bytes that are no UTF-8 are those of Windows where none of them make up letters of UTF-8, and each is a
    letter there. Raises for binary data, and where the table does not fit the budget: ``O(bytes)``, in one
    chunk. What is packed is unpacked only as far as the budget goes, and thrown away. A file that is read
    ``in_parts`` may be of any size.
    """
    n_bytes, n_fields, is_first = 0, 0, True
    encoding, letters, decoder = "utf-8", True, codecs.getincrementaldecoder("utf-8")()
    with open_stream(path) as stream:
        while chunk := stream.read(_SCANNED):
            if is_first and chunk.startswith((b"\xff\xfe", b"\xfe\xff")):
                encoding = "utf-16"
            if encoding == "utf-8":
                encoding = _still_utf8(decoder, chunk)
            is_first = False
            letters = letters and encoding != "utf-16" and _NOT_CP1252.search(chunk) is None
            if b"\0" in chunk and encoding != "utf-16":
                raise FileFormatError(
                    f"{path} must be text, got binary data. Give the file the suffix of what it is, such as "
                    ".parquet or .npy."
                )
            if in_parts:
                continue
            n_bytes += len(chunk)
            n_fields += chunk.count(delimiter.encode()) + chunk.count(b"\n")
            least = "at least " if _is_packed(path) else ""
            what = f"the table in {path.name}, {least}{n_fields:,} fields in {n_bytes:,} bytes,"
            held = min(n_bytes, _WINDOWS.get(packing_of(path) or "", 0))
            needed = n_bytes + held + _PER_FIELD * n_fields
            require_memory(needed, what, "Keep fewer columns or rows in the file.")
    return "utf-8" if encoding == "cp1252" and not letters else encoding


def _still_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes) -> str:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
