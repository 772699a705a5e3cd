"""The checksum that a model file ends in: SHA-256 of all bytes before it.

It is the comment of the zip archive, so that any program still opens the file. It finds damage and careless
edits. It is no signature: whoever computes it anew is believed.
"""

from __future__ import annotations

import hashlib
import os
from typing import IO
from zipfile import ZipFile

_MARK = b"sha256:"
_DIGITS = 2 * hashlib.sha256().digest_size
_BLOCK = 2**20  # bytes


class ChecksumError(ValueError):
    """A file is not as it was written."""

    def __init__(self) -> None:
        super().__init__("its content does not match its checksum: it was damaged or edited")


def write_checksum(file: IO[bytes]) -> None:
    """End a zip archive, open for reading and writing, with the checksum of its bytes."""
    with ZipFile(file, "a") as archive:
        archive.comment = _MARK + b"0" * _DIGITS
    end = file.seek(-_DIGITS, os.SEEK_END)
    digits = _checksum(file, end)
    file.seek(end)
    file.write(digits)


def has_checksum(file: IO[bytes]) -> bool:
    """Whether a file ends in a checksum; raises :class:`ChecksumError` for one of other content."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _DIGITS - len(_MARK)))
    mark, digits = file.read(len(_MARK)), file.read()
    if mark != _MARK:
        return False
    if digits != _checksum(file, size - _DIGITS):
        raise ChecksumError
    return True


def _checksum(file: IO[bytes], end: int) -> bytes:
    """Of the first ``end`` bytes, as digits."""
    found, left = hashlib.sha256(), file.seek(0) + end
    while left and (block := file.read(min(left, _BLOCK))):
        found.update(block)
        left -= len(block)
    return found.hexdigest().encode()
