"""The four tables of the thesis on SDD: three are built in, the digits are read from the data folder."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from isentropic import FileFormatError
from isentropic._core.values import Floats, Integers
from isentropic.datasets import load
from isentropic.tables.folder import SETTING

IRIS, CANCER, ROLL, DIGITS = "Iris", "Breast Cancer", "Swiss Roll", "MNIST"
_BUILT_IN = {
    IRIS: "builtin:iris",
    CANCER: "builtin:breast-cancer",
    ROLL: "builtin:four-cluster-roll",  # made after the description: other rows than theirs
}
_N_DIGITS = 2_500
_IMAGES = "MNIST/train-images-idx3-ubyte.gz"


@cache
def thesis_table(dataset: str) -> tuple[Floats, Integers]:
    """Rows as they are, not scaled, and classes; of the digits, the first 2,500."""
    if dataset == DIGITS:
        path = digits_file()
        if path is None:
            raise FileFormatError(
                f"{_IMAGES} must be in the data folder, got none there: {os.environ.get(SETTING, '')!r}. "
                f"Set {SETTING} to the folder that has it."
            )
        table, n_rows = load(str(path), scaling="none"), _N_DIGITS
    else:
        table, n_rows = load(_BUILT_IN[dataset], scaling="none"), None
    assert table.y is not None
    return table.X[:n_rows], table.y[:n_rows]


def digits_file() -> Path | None:
    """The images of the training half, if they are in the data folder."""
    folder = os.environ.get(SETTING, "")
    path = Path(folder) / _IMAGES
    return path if folder and path.is_file() else None
