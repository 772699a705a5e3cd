"""``Run`` and ``LabelTest``: the results of one method on one table, to and from JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ... import __version__
from ..._core.arguments import require_kind
from ..._core.cache import CHECKSUM_FIELD, KEY_DIGITS, ResultCache, code_fingerprint
from ..._core.errors import FileFormatError, require
from ..._core.files import (
    is_count,
    is_flag,
    is_named,
    is_number,
    is_text,
    maybe,
    named,
    record,
    require_fields,
    several,
)
from ..._core.values import Floats, Integers, Table
from ...quality import Quality
from ...selection import Trial
from .row_diagnostics import RowDiagnostics, is_row_diagnostics

_TEST_FORMAT = "isentropic.label-test/1"
_MARGIN = 3.0  # deviations of the null, beside its greatest value: few permutations leave much to luck
_TEST_FIELDS = {
    "protocol": is_text,
    "score": is_text,
    "observed": is_number,
    "null": several(is_number),
    "seen": is_number,
    "seen_null": several(is_number),
    "n_fitted": is_count,
    "n_scored": is_count,
    "n_splits": is_count,
    "random_state": is_count,
}


@dataclass(frozen=True, slots=True)
class LabelTest:
    """A score of the classes in a map, and the same score with permuted labels, the method fitted anew.

    ``seen`` scores the rows that the map learnt from, each by its nearest others: what a reader of the
    picture sees. Where ``seen_null`` is high, the method separates any labels: the picture proves nothing.
    """

    protocol: str  # "honest" or "published"
    score: str  # "accuracy" or "kappa", of k-NN
    observed: float  # with the labels as they are
    null: tuple[float, ...]  # with permuted ones
    seen: float
    seen_null: tuple[float, ...]
    n_fitted: int  # rows, in each split
    n_scored: int
    n_splits: int
    random_state: int

    @property
    def p(self) -> float:
        """Share of labellings, the true one among them, that score at least as well."""
        return (1 + sum(value >= self.observed for value in self.null)) / (1 + len(self.null))

    @property
    def mean(self) -> float:
        """Mean of the null: chance, under the honest protocol."""
        return float(np.mean(self.null))

    @property
    def highest(self) -> float:
        """Greatest score of the null."""
        return max(self.null)

    @property
    def reached(self) -> bool:
        """Whether permuted labels score as well, so that the score is an effect of the labels.

        One of the null reaches it, or ``observed <= m + 3 s`` with m the mean of the null and s its standard
        deviation: by luck the greatest of 19 is reached once in twenty, this, if they are normal,
        once in 200.
        """
        spread = float(np.std(self.null, ddof=1)) if len(self.null) > 1 else 0.0
        return self.observed <= max(self.highest, self.mean + _MARGIN * spread)

    def to_json(self) -> str:
        """As JSON text; every number survives."""
        return json.dumps({"format": _TEST_FORMAT, **self.to_fields()}, allow_nan=False)

    def to_fields(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "null": list(self.null), "seen_null": list(self.seen_null)}

    @classmethod
    def from_json(cls, text: str) -> LabelTest:
        """The inverse of :meth:`to_json`; raises for incomplete text or a field of another type."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("format", None) != _TEST_FORMAT:
                raise ValueError(f"its format is not {_FORMAT}")
            return cls.from_fields(data)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"text must be JSON of format {_FORMAT}, but {error}. Write it by to_json()."
            ) from error

    @classmethod
    def from_fields(cls, data: dict[str, Any]) -> LabelTest:
        """From plain data; raises ValueError where they do not fit."""
        require_fields(data, _TEST_FIELDS)
        if not data["null"] or len(data["null"]) != len(data["seen_null"]):
            raise ValueError("its two nulls must have as many entries, one at least")
        return cls(**{**data, "null": tuple(data["null"]), "seen_null": tuple(data["seen_null"])})


def is_label_test(value: Any) -> bool:
    """Whether plain data can become a :class:`LabelTest`."""
    return record(**_TEST_FIELDS)(value) and 0 < len(value["null"]) == len(value["seen_null"])


FOR_MEMORY = "left out for memory."  # how the reason begins of a method that was refused for it
_FORMAT = "isentropic.run/1"
_SHARE = maybe(several(is_number, 3))  # with its interval
_FIELDS = {
    "method": is_text,
    "params": is_named,
    "seed": maybe(is_count),
    "seconds": is_number,
    "memory_mib": maybe(is_number),
    "embedding": maybe(several(several(is_number))),
    "quality": maybe(is_named),
    "reason": is_text,
    "criterion": is_text,
    "trials": several(record(params=is_named, score=maybe(is_number), seconds=is_number, reason=is_text)),
    "repeats": several(named(is_number)),
    "baseline": named(several(is_number, 2)),
    "accuracy": _SHARE,
    "warnings": several(is_text),
    "false_share": maybe(several(is_number)),
    "classifiers": named(several(is_number, 3)),
    "without": named(several(is_number)),
    "relation": maybe(several(is_number, 3)),
    "saw_classes": is_flag,
    "label_test": maybe(is_label_test),
    "row_diagnostics": maybe(is_row_diagnostics),
    "rows": maybe(several(is_count)),
    "n_placed": is_count,
    "copies": maybe(several(is_count)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Result of one method: its map, time and memory, and how far the map can be trusted.

    A failed run has a ``reason``, and neither ``embedding`` nor ``quality``.
    """

    method: str  # name in the registry
    params: Mapping[str, Any]  # those that differ from the defaults of the method, the chosen ones included
    seed: int | None  # None where the method draws nothing
    seconds: float  # of the fit that gave the map, the selection not counted
    memory_mib: float | None  # what that fit added to the peak of the process, where it can be measured
    embedding: Floats | None = None  # (n, d)
    quality: Quality | None = None
    reason: str = ""  # why it failed
    criterion: str = ""  # by which the parameters were chosen; empty where nothing was
    trials: tuple[Trial, ...] = ()  # the full curve of the selection
    repeats: tuple[Mapping[str, float], ...] = ()  # measures of the same method from other seeds, by name
    baseline: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # (mean, 97.5% quantile) of measures under permutation of the rows of the map: what chance gives
    accuracy: tuple[float, float, float] | None = None
    # k-NN accuracy on held-out rows and its 95% interval, with labels and where the method has transform
    warnings: tuple[str, ...] = ()
    false_share: Floats | None = None
    # (s,) for each of quality.rows: share of its k = quality.n_neighbors[0] nearest map neighbours that are
    # not among the k nearest in the data
    classifiers: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    # as ``accuracy``, on the same held-out rows, of "k-NN", "QDA" and "LDA" in the data themselves
    without: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    # measures with a twentieth of the rows left out, twenty times: how they vary with the rows
    relation: tuple[float, float, float] | None = None
    # of the columns of the table: its strength, by what chance unrelated ones look so, and how many times as
    # dense the rows lie as with unrelated ones; None: not measured
    saw_classes: bool = False  # whether the method learnt from them
    label_test: LabelTest | None = None  # of a method that did: the accuracy with permuted labels
    row_diagnostics: RowDiagnostics | None = None  # how reliable the places of single rows are
    rows: Integers | None = None  # (n,) of a sample: which rows of the table the map is of; None: of all
    n_placed: int = 0  # of them, that were not fitted but mapped by transform
    copies: Integers | None = None
    # (n,) how many identical rows of the table each row of the map stands for; None: no row is repeated

    @property
    def data_accuracy(self) -> tuple[float, float, float] | None:
        """k-NN accuracy in the data themselves: what a map can retain."""
        return self.classifiers.get("k-NN")

    @property
    def failed(self) -> bool:
        return self.embedding is None

    def to_json(self) -> str:
        """As JSON text; every number survives."""
        data = {
            "format": _FORMAT,
            "method": self.method,
            "params": dict(self.params),
            "seed": self.seed,
            "seconds": self.seconds,
            "memory_mib": self.memory_mib,
            "embedding": None if self.embedding is None else self.embedding.tolist(),
            "quality": None if self.quality is None else json.loads(self.quality.to_json()),
            "reason": self.reason,
            "criterion": self.criterion,
            "trials": [
                {
                    "params": dict(trial.params),
                    "score": trial.score,
                    "seconds": trial.seconds,
                    "reason": trial.reason,
                }
                for trial in self.trials
            ],
            "repeats": [dict(repeat) for repeat in self.repeats],
            "baseline": {name: list(values) for name, values in self.baseline.items()},
            "accuracy": None if self.accuracy is None else list(self.accuracy),
            "warnings": list(self.warnings),
            "false_share": None if self.false_share is None else self.false_share.tolist(),
            "classifiers": {name: list(values) for name, values in self.classifiers.items()},
            "without": {name: list(values) for name, values in self.without.items()},
            "relation": None if self.relation is None else list(self.relation),
            "saw_classes": self.saw_classes,
            "label_test": None if self.label_test is None else self.label_test.to_fields(),
            "row_diagnostics": None if self.row_diagnostics is None else self.row_diagnostics.to_fields(),
            "rows": None if self.rows is None else self.rows.tolist(),
            "n_placed": self.n_placed,
            "copies": None if self.copies is None else self.copies.tolist(),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The inverse of :meth:`to_json`; raises for incomplete text or a field of another type."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("format", None) != _FORMAT:
                raise ValueError(f"its format is not {_FORMAT}")
            data.pop(CHECKSUM_FIELD, None)  # of the folder that keeps it
            require_fields(data, _FIELDS)
            run = cls._from_fields(data)
            run._require_sound()
        except (ValueError, RecursionError, FileFormatError) as error:
            raise FileFormatError(
                f"text must be JSON of format {_FORMAT}, but {error}. Write it by to_json()."
            ) from error
        return run

    @classmethod
    def _from_fields(cls, data: Mapping[str, Any]) -> Run:
        embedding, quality, shares = data["embedding"], data["quality"], data["false_share"]
        test, trust = data["label_test"], data["row_diagnostics"]
        return cls(
            **{
                **data,
                "embedding": None if embedding is None else np.array(embedding, float),
                "quality": None if quality is None else Quality.from_json(json.dumps(quality)),
                "trials": tuple(Trial(**trial) for trial in data["trials"]),
                "repeats": tuple(data["repeats"]),
                "baseline": {name: (mean, high) for name, (mean, high) in data["baseline"].items()},
                "accuracy": _tuple(data["accuracy"]),
                "warnings": tuple(data["warnings"]),
                "false_share": None if shares is None else np.array(shares, float),
                "classifiers": {name: tuple(values) for name, values in data["classifiers"].items()},
                "without": {name: tuple(values) for name, values in data["without"].items()},
                "relation": _tuple(data["relation"]),
                "label_test": None if test is None else LabelTest.from_fields(test),
                "row_diagnostics": None if trust is None else RowDiagnostics.from_fields(trust),
                **{name: _whole_numbers(data[name]) for name in ("rows", "copies")},
            }
        )

    def _require_sound(self) -> None:
        """Raise ValueError unless the map, its measures and its shares are of the same rows."""
        embedding, quality, shares = self.embedding, self.quality, self.false_share
        if (embedding is None) != (quality is None):
            raise ValueError("it has a map or its measures, but not both")
        if embedding is None or quality is None:
            return
        if embedding.ndim != 2 or len(embedding) != quality.n:
            raise ValueError(f"its map has the shape {embedding.shape} for {quality.n} rows")
        for numbers in (self.rows, self.copies):
            if numbers is not None and len(numbers) != quality.n:
                raise ValueError(f"its map of {quality.n} rows names {len(numbers)} of the table")
        if shares is not None and shares.shape != quality.rows.shape:
            raise ValueError(f"it has {len(shares)} shares for {len(quality.rows)} rows")
        if self.row_diagnostics is not None:
            self.row_diagnostics.require_sound(quality)


def require_runs(table: Any, runs: Any) -> None:
    """Raise unless these are a table and the runs of a comparison of it."""
    require_kind("table", table, Table, "Give datasets.load(source).")
    require_all_runs(runs)


def require_all_runs(runs: Any) -> None:
    """Raise unless all of them are runs, at least one."""
    are_runs = isinstance(runs, Sequence) and len(runs) > 0 and all(isinstance(run, Run) for run in runs)
    require(are_runs, "runs", "a list of at least one Run", runs, "Give what isentropic.compare returns.")


def run_names(runs: Sequence[Run]) -> list[str]:
    """The method of each run, with parameters where a method occurs twice."""
    methods = [run.method for run in runs]
    return [
        run.method if methods.count(run.method) == 1 else f"{run.method} ({parameters(run)})" for run in runs
    ]


def parameters(run: Run) -> str:
    """
    >>> parameters(Run("isomap", {"n_neighbors": 12}, None, 0.1, None))
    'n_neighbors=12'
    """
    return ", ".join(f"{key}={value}" for key, value in run.params.items()) or "defaults"


def _whole_numbers(values: Any) -> Integers | None:
    return None if values is None else np.array(values, np.int64)


def _tuple(values: Any) -> Any:
    return None if values is None else tuple(values)


# ---- ``RunCache``: Runs stored in a folder, by the data, method, settings, code and libraries behind them


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
