"""A table in many files, and a model that was fitted to a part of it."""

from pathlib import Path

import pytest

from many_files import rows_of_many_files, save_model, write_parts


@pytest.fixture(scope="session")
def frame():
    return rows_of_many_files()


@pytest.fixture
def parts(frame, tmp_path):
    return write_parts(frame, tmp_path / "parts")


@pytest.fixture(scope="session")
def model(frame, tmp_path_factory) -> Path:
    """Isomap of every fourth row."""
    return save_model(frame.iloc[::4], tmp_path_factory.mktemp("model") / "isomap.isentropic")
