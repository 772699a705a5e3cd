"""Packed text: .gz, .bz2 and .xz by the standard library, .zst by zstandard."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from ..._core.extras import require_extra

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


def unpacked(path: Path, packing: str) -> BinaryIO:
    """The bytes of a packed file, unpacked as they are read."""
    if packing == ".zst":
        require_extra("zstd", "A .zst file")
        return io.BufferedReader(_Zstd(path))
    by_suffix: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    stream: BinaryIO = by_suffix[packing](path)
    return stream


class _Zstd(io.RawIOBase):
    """A reader that notices the missing end of a file: that of zstandard takes it for the end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._ready = b""
        self._frame: Any = None  # what unpacks the frame that is being read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._unpack():
                return 0
        part = self._ready[: len(buffer)]
        buffer[: len(part)] = part
        self._ready = self._ready[len(part) :]
        return len(part)

    def _unpack(self) -> bool:
        """Unpack some more; False at the end of the last frame."""
        import zstandard

        rest = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
        packed = rest or self._file.read(_CHUNK)
        if not packed:
            if self._frame is not None and not self._frame.eof:
                raise EOFError("the end is missing")
            return False
        if self._frame is None or self._frame.eof:
            self._frame = zstandard.ZstdDecompressor(max_window_size=_WIDEST).decompressobj()
        try:
            self._ready = self._frame.decompress(packed)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from error
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
