"""The candidate whose map has the best score, and the scores of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import require
from .._runtime import row_blocks


@dataclass(frozen=True, slots=True)
class Choice:
    """What was tried, how good each was, and which was chosen: the first of the largest scores."""

    criterion: str
    candidates: npt.NDArray[Any]  # (c,)
    scores: npt.NDArray[np.float64]  # (c,), larger is better

    @property
    def index(self) -> int:
        return int(np.argmax(self.scores))

    @property
    def best(self) -> Any:
        return self.candidates[self.index].item()


def choose(
    candidates: Iterable[Any],
    embed: Callable[[Any], npt.NDArray[np.float64]],
    score: Callable[[npt.NDArray[np.float64]], float],
    *,
    criterion: str = "score",
) -> Choice:
    """Score the map of every candidate; ``embed`` makes a map, ``score`` says how good it is.

    >>> import numpy as np
    >>> from isentropic.selection import choose
    >>> choice = choose([1, 2, 3], lambda k: np.full((4, 2), k), lambda Z: -abs(Z[0, 0] - 2))
    >>> choice.best, choice.scores.tolist()
    (2, [-1.0, 0.0, -1.0])
    """
    tried = list(candidates)
    require(len(tried) > 0, "candidates", "at least one", tried)
    scores = np.empty(len(tried))
    for block in row_blocks(len(tried), "candidates", size=1):
        scores[block] = score(embed(tried[block.start]))
    finite = bool(np.isfinite(scores).all())
    require(finite, "A score", "a finite number for every candidate", scores.tolist())
    return Choice(criterion, np.array(tried), scores)


def geometric_grid(low: int, high: int, count: int) -> list[int]:
    """Up to ``count`` different integers from ``low`` to ``high``, about a constant factor apart.

    >>> from isentropic.selection import geometric_grid
    >>> geometric_grid(5, 80, 5)
    [5, 10, 20, 40, 80]
    """
    require(1 <= low <= high and count >= 1, "low, high, count", "1 <= low <= high", (low, high, count))
    return sorted({int(k) for k in np.rint(np.geomspace(low, high, count))})
