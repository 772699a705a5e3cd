"""Hashes of results, as ``bits.py`` keeps them: of bytes for numbers, of contents for all else.

Names of classes and modules are left out, so that both can change while numbers stay.
"""

import dataclasses
import enum
import hashlib
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from llvmlite.binding import get_host_cpu_name
from scipy.sparse import csr_array, issparse
from threadpoolctl import threadpool_info

from isentropic import IsentropicWarning

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "pandas")
NOT_REPEATABLE = {"seconds", "memory_mib"}  # names of what a clock or the system says
MOST_VALUES = 60_000  # of an array whose numbers are kept beside its hash


@dataclasses.dataclass(frozen=True)
class Result:
    """The hash of a value, and what a reader sees of it."""

    hash: str
    summary: str
    numbers: np.ndarray | None = None  # where they can be compared
    text: bool = False  # words, which may be written anew while numbers stay


Results = dict[str, Result]


def add(found: Results, key: str, value: Any) -> None:
    """Add a value under ``key``, one with parts under a key for each part; names of classes do not count."""
    parts = None if _is_plain(value) else _parts(value)
    if parts is None:
        found[key] = result_of(value)
    for name, part in parts or ():
        if not name.startswith("_") and name not in NOT_REPEATABLE:
            add(found, f"{key}/{name}", part)


def _is_plain(value: Any) -> bool:
    """Whether it has one hash: numbers, text, nothing, an array of them, a flat sequence."""
    if isinstance(value, np.ndarray):
        return value.dtype != object or all(_is_plain(each) for each in value.flat)
    if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):
        return all(each is None or isinstance(each, str | bytes | int | float | np.generic) for each in value)
    return value is None or isinstance(value, str | bytes | int | float | complex | np.generic | enum.Enum)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    if issparse(value):
        matrix = csr_array(value)
        matrix.sort_indices()
        return [(name, getattr(matrix, name)) for name in ("shape", "indptr", "indices", "data")]
    if isinstance(value, pd.DataFrame):
        return [("index", np.asarray(value.index)), *((str(c), value[c].to_numpy()) for c in value.columns)]
    if isinstance(value, pd.Series | pd.Index):
        return [("values", value.to_numpy())]
    if callable(getattr(value, "rows", None)):  # distances, computed on request
        return [("rows", value.rows(np.arange(9)))]
    if isinstance(value, Mapping):
        return [("keys", sorted(map(str, value))), *((str(k), part) for k, part in value.items())]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if hasattr(value, "_asdict"):
        return list(value._asdict().items())
    if isinstance(value, list | tuple | np.ndarray):
        return [("length", len(value)), *((str(i), part) for i, part in enumerate(value))]
    if hasattr(value, "get_params"):
        return list(fitted_attributes(value))
    return None


def fitted_attributes(estimator: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(estimator):
        if name.endswith("_") and not name.startswith("_") and hasattr(estimator, name):
            yield name, getattr(estimator, name)


def result_of(value: Any) -> Result:
    """The hash of one value, after it is made native, contiguous and sorted."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
        said = f"{array.dtype} {array.shape}"
        return Result(_hash(said.encode(), array.tobytes()), said, _numbers(array))
    if isinstance(value, np.ndarray | list | tuple):
        listed = [
            each.item() if isinstance(each, np.generic) else each for each in np.array(value, object).flat
        ]
        said = f"{type(value).__name__} of {len(listed)}: {listed}"
        text = not isinstance(value, np.ndarray) and {*map(type, listed)} == {str}
        return Result(_hash(repr((np.shape(value), listed)).encode()), said[:200], _numbers(listed), text)
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return Result(_hash(repr(value).encode()), repr(value)[:200], _numbers(value), isinstance(value, str))
    return Result(_hash(b"opaque"), "a value that has no hash")


def _hash(*texts: bytes) -> str:
    return hashlib.blake2b(b"\0".join(texts), digest_size=8).hexdigest()


def _numbers(value: Any) -> np.ndarray | None:
    if isinstance(value, list) and not all(isinstance(each, int | float) for each in value):
        return None
    if isinstance(value, str | bytes | complex) or value is None or np.iscomplexobj(value):
        return None
    numbers = np.asarray(value, dtype=np.float64)
    return numbers if numbers.size <= MOST_VALUES else None


def attempt(found: Results, key: str, compute: Callable[[], Any]) -> Any:
    """Add what ``compute`` returns, or the message with which it fails; and the warnings it gives."""
    value = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = compute()
        except Exception as error:  # a failure is a result too
            found[f"{key}/failure"] = result_of(f"{type(error).__name__}: {error}")
        else:
            add(found, key, value)
    ours = [each for each in caught if issubclass(each.category, IsentropicWarning)]
    if ours:
        found[f"{key}/warnings"] = result_of(sorted({f"{w.category.__name__}: {w.message}" for w in ours}))
    return value


def same_by_threads(found: Results, prefix: str, compute: Callable[[int], Results]) -> None:
    """Add what one thread computes, and of two threads what differs from it."""
    one, two = compute(1), compute(2)
    found |= {f"{prefix}/{key}": result for key, result in one.items()}
    for key in one.keys() | two.keys():
        if key not in one or key not in two or one[key].hash != two[key].hash:
            found[f"{prefix}/{key}/2 threads"] = two.get(key, result_of("missing"))


def distance(was: np.ndarray, now: np.ndarray | None) -> float | None:
    """The largest difference, in widths of what was; None where shapes or missing values differ."""
    if now is None or was.shape != now.shape or (np.isfinite(was) != np.isfinite(now)).any() or not was.size:
        return None
    finite = np.isfinite(was)
    if not finite.any():
        return None
    width = np.ptp(was[finite]) or np.abs(was[finite]).max() or 1.0
    return float(np.abs(was[finite] - now[finite]).max() / width)


def machine() -> dict[str, str]:
    """What bits depend on beside the code."""
    blas = {f"{each['internal_api']} {each['version']} {each.get('architecture', '')}".strip()
            for each in threadpool_info() if each["user_api"] == "blas"}  # fmt: skip
    return {
        "processor": f"{platform.machine()} {get_host_cpu_name()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "blas": ", ".join(sorted(blas)),
    }
