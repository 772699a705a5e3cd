"""What a selection tried and found: the whole curve, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from .._core.state import Dict, Each, Maybe, Number, Plain, StateError, Text, Value, Whole


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of parameters that was tried, and its score; a failure has a reason instead of a score."""

    params: Annotated[Mapping[str, Any], Dict(Text(), Plain())]
    score: Annotated[float | None, Maybe(Number())]
    seconds: Annotated[float, Number(0)]
    reason: Annotated[str, Text()] = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Every trial in the order of the grid, and which of them is best: of equal ones the first."""

    trials: Annotated[tuple[Trial, ...], Each(Value(Trial))]
    best: Annotated[int, Whole(0)]  # position among the trials
    criterion: Annotated[str, Text()]
    better: Annotated[Literal["higher", "lower"], Text("higher", "lower")]

    def _require_sound(self) -> None:
        if self.best >= len(self.trials) or self.trials[self.best].score is None:
            raise StateError("best", "must be the number of a trial with a score")

    @property
    def params(self) -> dict[str, Any]:
        """The chosen parameters."""
        return dict(self.trials[self.best].params)

    @property
    def score(self) -> float:
        """The score of the chosen parameters."""
        score = self.trials[self.best].score
        assert score is not None  # the best trial is none that failed
        return score

    def curve(self, name: str) -> tuple[tuple[Any, float], ...]:
        """Values of one parameter with the score of each trial that did not fail.

        >>> trials = (Trial({"k": 5}, 0.4, 1), Trial({"k": 9}, None, 1, "why"), Trial({"k": 20}, 0.6, 1))
        >>> Selection(trials, 2, "rnx_auc", "higher").curve("k")
        ((5, 0.4), (20, 0.6))
        """
        return tuple(
            (trial.params[name], trial.score)
            for trial in self.trials
            if trial.score is not None and name in trial.params
        )
