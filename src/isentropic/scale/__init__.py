"""Rows beyond one machine's memory: maps fitted to a sample, and every row mapped, batch by batch.

A row gets the same coordinates, bit by bit, in any batch, file, process or cluster.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "MappedSource": "partition_maps",
    "ModelFile": "batch_mapping",
    "map_batch": "batch_mapping",
    "map_rows": "partition_maps",
    "sample_rows": "row_samples",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
