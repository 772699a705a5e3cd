"""The ten tables of the survey as it used them: NPZ files with X and y, beside the data folder."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from isentropic import FileFormatError
from isentropic._core.values import Floats, Integers
from isentropic.datasets import load
from isentropic.tables.folder import SETTING

DATASETS = ("bank", "cnae9", "coil20", "har", "hatespeech", "orl", "secom", "sentiment", "sms", "spambase")
FOLDER = "survey"


def survey_file(dataset: str) -> Path | None:
    """Where the table is: in ``survey`` within the data folder, or beside it; None if it is in neither."""
    return next((path for path in _places(dataset) if path.is_file()), None)


def survey_table(dataset: str) -> tuple[Floats, Integers]:
    """Rows and class codes; an error that says where the file was looked for."""
    path = survey_file(dataset)
    if path is None:
        looked = " or ".join(str(place) for place in _places(dataset))
        hint = f"Put the file there: {looked}." if looked else f"Set {SETTING} to the data folder, beside it."
        raise FileFormatError(f"{FOLDER}/{dataset}.npz must be a file with X and y, got none. {hint}")
    return _read(str(path))


def _places(dataset: str) -> list[Path]:
    folder = os.environ.get(SETTING, "")
    if not folder:
        return []
    return [place / FOLDER / f"{dataset}.npz" for place in (Path(folder), Path(folder).resolve().parent)]


@lru_cache(maxsize=2)
def _read(path: str) -> tuple[Floats, Integers]:
    table = load(path, scaling="none")
    assert table.y is not None
    return table.X, table.y
