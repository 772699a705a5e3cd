"""Row names: the index of a table, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.errors import require
from .._core.values import Integers

Names = npt.NDArray[np.object_]


def row_names(X: Any) -> Names | None:
    """The index of a pandas table as text; None for anything else, which has no names.

    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"area": [30.0, 44.0]}, index=["f01", "f02"])).tolist()
    ['f01', 'f02']
    """
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    return np.array([str(name) for name in X.index], object)


def has_default_index(X: Any) -> bool:
    """Whether the index of a pandas table only counts its rows, as it does where nobody gave another."""
    index = X.index
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def matched_names(names: Sequence[str] | Names, known: Sequence[str] | Names, what: str) -> Integers:
    """The place of each name among those that are ``known``, -1 for one that is new; no name may repeat."""
    for several in (known, names):
        require_distinct(several, what)
    places = {name: place for place, name in enumerate(known)}
    return np.array([places.get(name, -1) for name in names], np.int64)


def require_distinct(names: Sequence[str] | Names, what: str) -> None:
    """Raise where two rows have one name."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        hint = "Leave out all but one of these rows, or name them apart."
        require(False, what, "different for every row", f"{name!r} {count} times", hint)
