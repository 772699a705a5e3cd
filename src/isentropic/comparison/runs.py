"""``Run``: one method on one table, and everything that a report says of it. Plain data, to and from JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._errors import FileFormatError
from .._values import Floats
from ..quality import Quality
from ..selection import Trial

_FORMAT = "isentropic.run/1"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What came of one method: its map, what it took, and how far the map can be trusted.

    A failed run has a ``reason``, and neither ``embedding`` nor ``quality``.
    """

    method: str  # name in the registry
    params: Mapping[str, Any]  # those that differ from the defaults of the method, the chosen ones included
    seed: int | None  # None where the method draws nothing
    seconds: float  # of the fit that gave the map, the selection not counted
    memory_mib: float | None  # what that fit added to the peak of the process, where it can be told
    embedding: Floats | None = None  # (n, d)
    quality: Quality | None = None
    reason: str = ""  # why it failed
    criterion: str = ""  # by which the parameters were chosen; empty where nothing was
    trials: tuple[Trial, ...] = ()  # the whole curve of the selection
    repeats: tuple[Mapping[str, float], ...] = ()  # measures of the same method from other seeds, by name
    baseline: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # (mean, 97.5% quantile) of measures under permutation of the rows of the map: what chance gives
    accuracy: tuple[float, float, float] | None = None
    # k-NN accuracy on held-out rows and its 95% interval, with labels and where the method has transform
    warnings: tuple[str, ...] = ()
    false_share: Floats | None = None
    # (s,) for each of quality.rows: share of its k = quality.n_neighbors[0] nearest map neighbours that are
    # not among the k nearest in the data
    data_accuracy: tuple[float, float, float] | None = None
    # as ``accuracy``, on the same held-out rows, of k-NN in the data themselves: what there is to keep
    without: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    # measures with a twentieth of the rows left out, twenty times: how they vary with the rows
    relation: tuple[float, float] | None = None
    # of the columns of the table: its strength, and by what chance unrelated ones look so; None: not measured

    @property
    def failed(self) -> bool:
        return self.embedding is None

    def to_json(self) -> str:
        """All of it as text; every number survives."""
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
            "data_accuracy": None if self.data_accuracy is None else list(self.data_accuracy),
            "without": {name: list(values) for name, values in self.without.items()},
            "relation": None if self.relation is None else list(self.relation),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The inverse of :meth:`to_json`."""
        data = json.loads(text)
        if not isinstance(data, dict) or data.pop("format", None) != _FORMAT:
            raise FileFormatError(f"text must be JSON of format {_FORMAT}. Write it by to_json().")
        embedding, quality, shares = data.pop("embedding"), data.pop("quality"), data.pop("false_share", None)
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
                "data_accuracy": _tuple(data.get("data_accuracy")),
                "without": {name: tuple(values) for name, values in data.get("without", {}).items()},
                "relation": _tuple(data.get("relation")),
            }
        )


def _tuple(values: Any) -> Any:
    return None if values is None else tuple(values)
