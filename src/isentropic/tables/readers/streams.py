"""Bytes of files: of a size that fits the budget, unpacked as they are read; what goes wrong is clear."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..._core.errors import FileFormatError, IsentropicError, MissingExtraError
from ..._core.runtime import require_memory
from .packing import DAMAGE, PACKINGS, packing_of, unpacked

_CHUNK = 1 << 20  # bytes that a scan holds at a time
_LONGEST_REASON = 200  # letters of another library's message
# letters of UTF-8 of several bytes, and bytes that are none in the encoding of Windows
_NOT_CP1252 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x81\x8d\x8f\x90\x9d]"
)
_PER_FIELD = 16  # bytes that a field of text takes as a number, beside the text itself


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
    """What another library says of a damaged file, as one sentence: ``path must be what, got ...``."""
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
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked when its name says so; what goes wrong becomes a clear error."""
    packing = packing_of(path)
    try:
        stream = unpacked(path, str(packing)) if _is_packed(path) else path.open("rb")
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
    with opened(path) as stream:
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


def text_encoding(path: Path, delimiter: str) -> str:
    """How a text file is encoded: ``"utf-8"``, ``"utf-16"`` by its first bytes, or ``"cp1252"``.

    Bytes that are no UTF-8 are those of Windows where none of them make up letters of UTF-8, and each is a
    letter there. Raises for binary data, and where the table does not fit the budget: ``O(bytes)``, in one
    chunk. What is packed is unpacked only as far as the budget goes, and thrown away.
    """
    n_bytes = n_fields = 0
    encoding, letters, decoder = "utf-8", True, codecs.getincrementaldecoder("utf-8")()
    with opened(path) as stream:
        while chunk := stream.read(_CHUNK):
            if n_bytes == 0 and chunk.startswith((b"\xff\xfe", b"\xfe\xff")):
                encoding = "utf-16"
            if encoding == "utf-8":
                encoding = _still_utf8(decoder, chunk)
            letters = letters and encoding != "utf-16" and _NOT_CP1252.search(chunk) is None
            if b"\0" in chunk and encoding != "utf-16":
                raise FileFormatError(
                    f"{path} must be text, got binary data. Give the file the suffix of what it is, such as "
                    ".parquet or .npy."
                )
            n_bytes += len(chunk)
            n_fields += chunk.count(delimiter.encode()) + chunk.count(b"\n")
            least = "at least " if _is_packed(path) else ""
            what = f"the table in {path.name}, {least}{n_fields:,} fields in {n_bytes:,} bytes,"
            require_memory(n_bytes + _PER_FIELD * n_fields, what, "Keep fewer columns or rows in the file.")
    return "utf-8" if encoding == "cp1252" and not letters else encoding


def _still_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes) -> str:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
