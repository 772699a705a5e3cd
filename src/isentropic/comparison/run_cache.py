"""``RunCache``: Runs stored in a folder, by the data, method, settings, code and libraries behind them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import __version__
from .._core.cache import KEY_DIGITS, ResultCache, code_fingerprint
from .._core.values import Floats
from .evaluation.runs import Run


def fingerprint(X: Floats, y: Any) -> str:
    """Hash of a table: equal for equal numbers of an equal shape."""
    found = hashlib.sha256(repr((X.shape, str(X.dtype))).encode())
    found.update(np.ascontiguousarray(X).tobytes())
    if y is not None:
        found.update(repr(np.asarray(y).tolist()).encode())
    return found.hexdigest()


def run_key(data: str, method: str, settings: Mapping[str, Any], seed: int) -> str:
    """Cache key of a Run: everything its numbers depend on, code and libraries included."""
    parts = {"data": data, "method": method, "settings": settings, "seed": seed, "version": __version__}
    parts["code"] = code_fingerprint()
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def parameter_key(value: Any) -> str:
    """A parameter as part of a key; an array by its numbers, which ``repr`` would shorten."""
    return fingerprint(value, None) if isinstance(value, np.ndarray) else repr(value)


class RunCache(ResultCache):
    """Runs as files ``method-key.json``, each complete or absent; without a folder nothing is stored."""

    __slots__ = ()

    def read(self, method: str, key: str) -> Run | None:
        """The Run of this key, unless it failed or is not there: failures are tried again."""
        run = self.get(method, key, lambda text: _run_of(text, method))
        return None if run is None or run.failed else run

    def write(self, key: str, run: Run) -> None:
        """Write a Run in one step: a reader, or the next start, sees all of it or nothing."""
        self.put(run.method, key, run.to_json())


def _run_of(text: str, method: str) -> Run:
    run = Run.from_json(text)
    if run.method != method:
        raise ValueError(f"it is of {run.method!r}")
    return run
