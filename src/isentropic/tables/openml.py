"""OpenML through scikit-learn, which keeps what it has fetched and checks it by its MD5 sum."""

from __future__ import annotations

from typing import Any
from urllib.error import HTTPError, URLError

from .._core.errors import FileFormatError
from .raw import RawTable


def read_openml(word: str) -> RawTable:
    """The set with this name, name@version or number, its nominal columns as declared, its default target."""
    bunch = _fetch(word)
    targets = list(bunch.target_names or [])
    name = str((bunch.details or {}).get("name", word))
    return RawTable(bunch.frame, name, targets[0] if len(targets) == 1 else None, declared=True)


def _fetch(word: str) -> Any:
    from sklearn.datasets import fetch_openml

    name, _, version = word.rpartition("@")
    which: dict[str, Any] = {"data_id": int(word)} if word.isdecimal() else {"name": word}
    if name and version.isdecimal():
        which = {"name": name, "version": int(version)}
    advice = (
        "Check the name at openml.org and the network, download the file and load it by its path, or set "
        "ISENTROPIC_DATA to a folder that has it."
    )
    try:
        return fetch_openml(**which, as_frame=True, parser="auto")
    except (HTTPError, URLError, OSError) as error:
        raise FileFormatError(f"openml:{word} must be within reach, got {error}. {advice}") from error
    except ValueError as error:  # unknown to OpenML, or sparse
        raise FileFormatError(
            f"openml:{word} must be a dense table on OpenML, got: {error} {advice}"
        ) from error
