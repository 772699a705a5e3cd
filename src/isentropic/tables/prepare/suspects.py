"""Columns that are no measurements: what names the rows is left out, dates are named in a warning."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..._values import Floats
from ..notices import listed, notice
from .columns import FEW_WORDS, is_number, look_like_amounts
from .dates import CYCLES, look_like_dates
from .encoding import Encoded

_FEWEST = 10  # rows below which distinct values say nothing
_NEARLY = 0.95  # share of distinct values that makes a text, or a column called "id", a name
_MANY = 20  # so many texts that occur less than twice on average are names too, as those of tickets
_IDENTIFIER_NAME = re.compile(
    r"(?i:(^|.*[\W_])(id|uuid|guid|key|nbr|nr|number|index))|.*[a-z](Id|ID)|Unnamed: \d+"
)
_LONG_NUMBER = r"\s*\d{16,}\s*"  # of an account, a device: no measure has so many digits
_DATE_NAME = re.compile(r"(?i:(^|.*[\W_])(date|datetime|timestamp))|.*[a-z](Date|Timestamp)")


def row_naming_columns(features: pd.DataFrame, keep: Sequence[str]) -> list[str]:
    """Columns that tell rows apart and measure nothing: text that hardly repeats, numbers of rows.

    A table of nothing else is left as it is. Text hardly repeats where a value occurs less than twice on
    average, if there are 20 or more. Numbers are those from a to a + n - 1, in any order, or whole ones under
    a name like "id" with hardly a repetition.
    """
    if len(features) < _FEWEST:
        return []
    found = [name for name in features.columns if name not in keep and _names_rows(features[name], name)]
    return found if len(found) < features.shape[1] else []


def empty_columns(features: pd.DataFrame) -> list[str]:
    """Columns without any value; empty text is none."""
    filled = (features.notna() & features.ne("")).any().to_numpy(dtype=bool)
    return features.columns[~filled].tolist()


def names_every_row(values: pd.Series) -> bool:
    """Whether each row has a value, and none has that of another."""
    return bool(values.notna().all()) and values.nunique() == len(values)


def _names_rows(values: pd.Series, name: str) -> bool:
    n = len(values)
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.nunique() == n  # levels were declared: all of them different, or it is a feature
    if not is_number(values.dtype):
        is_text = pd.api.types.infer_dtype(values, skipna=True) == "string"
        return is_text and _hardly_repeats(values) and not _is_measured(values)
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    called_so = _IDENTIFIER_NAME.fullmatch(name) is not None
    with np.errstate(over="ignore"):
        spread = numbers.max() - numbers.min()
    if not called_so and spread != n - 1:  # NaN, and so no name, where a value is missing
        return False
    return _whole(numbers) and len(np.unique(numbers)) >= (_NEARLY * n if called_so else n)


def _hardly_repeats(words: pd.Series) -> bool:
    n_different = words.nunique()
    return n_different >= _NEARLY * len(words) or (n_different >= _MANY and 2 * n_different > words.count())


def _is_measured(words: pd.Series) -> bool:
    """Text that is numbers or dates but for a few words: a feature, or for its reader to refuse."""
    some = words.dropna().astype(str).head(1_000)
    plain = some.str.fullmatch(r"\s*[+-]?[\d.,:/T Z-]+([eE][+-]?\d+)?\s*")
    measured = plain | look_like_dates(some) | look_like_amounts(some.str.strip())
    measured &= ~some.str.fullmatch(_LONG_NUMBER)
    return bool(measured.mean() > 0.5) and some[~measured].nunique() <= FEW_WORDS


def name_suspects(encoded: Encoded) -> None:
    """Warn of dates among the columns."""
    dates = [column.name for column in encoded.columns if column.kind == "date"]
    if dates:
        cycles = sorted(
            {cycle for column in encoded.columns for cycle in column.cycles}, key=list(CYCLES).index
        )
        other = f", and as cycles of the {', the '.join(cycles)}" if cycles else ""
        more = "" if cycles else ", dates='cycle' adds cycles of the year, week and day"
        notice(
            f"dates count as features, in days since 1970{other}: {listed(dates)}. drop=[...] leaves them "
            f"out{more}."
        )
    low, high = encoded.X.min(axis=0)[encoded.firsts], encoded.X.max(axis=0)[encoded.firsts]
    spans = zip(encoded.columns, encoded.firsts, low.tolist(), high.tolist(), strict=True)
    coded = [
        column.name
        for column, first, a, b in spans
        if column.kind == "number" and _is_date(column.name, encoded.X[:, first], a, b)
    ]
    if coded:
        notice(f"columns that look like dates count as numbers: {listed(coded)}. drop=[...] leaves them out.")


def _is_date(name: str, values: Floats, low: float, high: float) -> bool:
    if _DATE_NAME.fullmatch(name):
        return True
    if not (len(values) >= _FEWEST and low >= 19000101 and high <= 21001231 and _whole(values)):
        return False
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())
