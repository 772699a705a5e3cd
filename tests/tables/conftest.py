"""Fixtures: files to write, and the data folder when it is there."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

SETTING = "ISENTROPIC_DATA"
_FOLDER = os.environ.get(SETTING)  # read before any test unsets it


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch):
    """Tests say themselves when they use a data folder."""
    monkeypatch.delenv(SETTING, raising=False)


@pytest.fixture
def data_folder(monkeypatch) -> Path:
    if not _FOLDER:
        pytest.skip(f"needs the data folder; set {SETTING}")
    monkeypatch.setenv(SETTING, _FOLDER)
    return Path(_FOLDER)


@pytest.fixture
def write(tmp_path) -> Callable[[str, str | bytes], Path]:
    """Write a file of this name, gzipped when the name says so."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write
