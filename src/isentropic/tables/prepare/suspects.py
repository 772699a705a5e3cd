"""Columns that are no measurements: by rules, they are names of rows, labels, or left out.

Every rule goes by the values, their order and the name of a column. Each one answers with a phrase that says
why, or with nothing.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from ..._core.errors import InvalidInputError, TableWarning, listing, notice
from ..._core.values import Floats
from .columns import FEW_WORDS, describe, encode, is_number, look_like_amounts
from .dates import CYCLES, look_like_dates
from .encoding import Encoded

Rule = Literal["empty", "constant", "names", "order", "levels"]

_FEWEST = 10  # rows below which distinct values say nothing
_FEWEST_IN_ORDER = 30  # rows below which a column may well be sorted, as a measure in a short table
_NEARLY = 0.95  # share of distinct values that makes a text, or a column called "id", a name
_MANY = 20  # so many texts that occur less than twice on average are names too, as those of tickets
_LEAST_LEVELS = 10  # fewer levels are few, however few rows there are
_RISING = 0.98  # share of the steps from row to row that go the same way
_EVEN = 0.995  # correlation with the number of the row from which a column says nothing else
_LARGEST = 1e100
_RELATED = 3.5  # standard errors of a rank correlation that is no chance
_IDENTIFIER_NAME = re.compile(
    r"(?i:(^|.*[\W_])(id|ids|uuid|guid|key|nbr|nr|no|num|number|rownames?|serial)[.#]?"
    r"|(row|record|sample|case|obs)?[\W_]?(index|idx|nr|no)|#|rows?|case|record|obs|observation|seq(uence)?)"
    r"|.*[a-z](Id|ID|No|Nr)|Unnamed: \d+(_level_\d+)?|"
)
_LONG_NUMBER = r"\s*\d{16,}\s*"  # of an account, a device: no measure has so many digits
_DATE_NAME = re.compile(r"(?i:(^|.*[\W_])(date|datetime|timestamp))|.*[a-z](Date|Timestamp)")
_TIME_NAME = re.compile(r"(?i:(^|.*[\W_])(date|datetime|timestamp|time|year|yr|month|week|day|hour|quarter))")


@dataclass(frozen=True, slots=True)
class Finding:
    """The rule by which a column is no feature, and why, as a phrase."""

    rule: Rule
    why: str


def suspicious_columns(features: pd.DataFrame) -> dict[str, Finding]:
    """Columns that measure nothing, by the first rule that holds; a table of nothing else is left as it is.

    One value or none: ``empty``, ``constant``. Text that hardly repeats, whole numbers that hardly repeat
    under a name like "id": ``names``. Whole numbers and dates that follow the order of the rows: ``order``.
    Text with more levels than rows in each: ``levels``. The last two leave at least two features.
    """
    found: dict[str, Finding] = {}
    columns = {str(name): values for name, values in features.items()}
    strong: list[tuple[Rule, int, Callable[[pd.Series, str], str]]] = [
        ("empty", 2, _without_value),
        ("constant", 2, _one_value),
        ("names", _FEWEST, _row_names),
    ]
    for rule, fewest, reason in strong:
        rest = [name for name in columns if name not in found]
        new = _find_suspects(rule, ((name, reason(columns[name], name)) for name in rest))
        if len(features) >= fewest and len(new) < len(rest):
            found |= new
    if len(features) < _FEWEST:
        return found
    rest = [name for name in columns if name not in found]
    may_be = [name for name in rest if not _has_fractions(columns[name])]
    weak = _find_suspects("order", ((name, _row_order(features, name, rest)) for name in may_be))
    left = [name for name in may_be if name not in weak]
    weak |= _find_suspects("levels", ((name, _many_levels(columns[name], name)) for name in left))
    return found | weak if len(rest) - len(weak) >= 2 else found


def _find_suspects(rule: Rule, reasons: Iterable[tuple[str, str]]) -> dict[str, Finding]:
    return {name: Finding(rule, why) for name, why in reasons if why}


def _has_fractions(values: pd.Series) -> bool:
    """Whether one of the first numbers is no whole one: a measure, at little cost in a wide table."""
    if not (isinstance(values.dtype, np.dtype) and values.dtype.kind == "f"):
        return False
    first = values.to_numpy()[:100]
    return bool((np.isfinite(first) & (first != np.floor(first))).any())


# ---- one value, or none ------------------------------------------------------------------------


def _without_value(values: pd.Series, name: str) -> str:
    """Empty text is no value."""
    if _has_fractions(values):
        return ""
    present = values.dropna()
    may_be_empty = types.is_object_dtype(values.dtype) or types.is_string_dtype(values.dtype)
    filled = len(present) > 0 and (not may_be_empty or any(value != "" for value in present))
    return "" if filled else "no value in any row"


def _one_value(values: pd.Series, name: str) -> str:
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
        cells = values.to_numpy()
        is_constant = bool((cells == cells[0]).all())
    else:
        is_constant = values.nunique(dropna=False) == 1
    return "the same value in every row" if is_constant else ""


# ---- names of rows -----------------------------------------------------------------------------


def names_every_row(values: pd.Series) -> bool:
    """Whether each row has a value, and none has that of another."""
    return bool(values.notna().all()) and values.nunique() == len(values)


def _row_names(values: pd.Series, name: str) -> str:
    n = len(values)
    if isinstance(values.dtype, pd.CategoricalDtype):  # levels were declared: all differ, or it is a feature
        return "a value of its own in every row" if values.nunique() == n else ""
    if not is_number(values.dtype):
        if not (is_text(values) and _hardly_repeats(values)) or _is_measured(values):
            return ""
        return "a text of its own in every row" if names_every_row(values) else "text that hardly repeats"
    if _IDENTIFIER_NAME.fullmatch(name.strip()) is None:
        return ""
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    is_number_of_row = _whole(numbers) and len(np.unique(numbers)) >= _NEARLY * n
    return "whole numbers that hardly repeat, under a name of identifiers" if is_number_of_row else ""


def is_text(values: pd.Series) -> bool:
    return pd.api.types.infer_dtype(values, skipna=True) == "string"


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


def looks_like_dates(words: pd.Series) -> bool:
    """Whether nearly all of the first words are dates."""
    some = words.head(1_000)
    return len(some) > 0 and bool(look_like_dates(some).mean() >= _NEARLY)


# ---- labels: many levels -----------------------------------------------------------------------


def _many_levels(values: pd.Series, name: str) -> str:
    """Text with more levels than rows in each, as countries of a panel; numbers only if they identify.

    Two rows of different levels are equally far whichever they are, so that many levels of few rows each make
    nearly all rows equally far, and a map shows one clump for each level.
    """
    kind = "text"
    if isinstance(values.dtype, pd.CategoricalDtype):
        return ""
    if is_number(values.dtype):
        kind = "identifiers"
        if not name.strip() or _IDENTIFIER_NAME.fullmatch(name.strip()) is None:
            return ""
        if not _whole(values.dropna().to_numpy(dtype=np.float64)):
            return ""
    elif not is_text(values) or _is_measured(values):
        return ""
    n_levels, n_present = values.nunique(), int(values.count())
    if n_levels < _LEAST_LEVELS or n_levels**2 <= n_present:
        return ""
    return f"{kind} with {n_levels} levels of {max(1, round(n_present / n_levels))} rows each"


# ---- labels: what follows the order of the rows --------------------------------------------------


def _row_order(features: pd.DataFrame, name: str, others: list[str]) -> str:
    """Whole numbers and dates that rise or fall with the rows and say nothing beyond that.

    Evenly spaced ones are the number of the row itself, and so are those under a name of identifiers. Times
    are when a row was written, or the axis of a series, whose measures remain. Any other sorted column is a
    measure if another column changes with the rows too.
    """
    numbers, is_date = _order_values(features[name])
    is_time = is_date or _TIME_NAME.fullmatch(name) is not None
    if numbers is None or len(numbers) < (_FEWEST if is_time else _FEWEST_IN_ORDER):
        return ""
    is_identifier = bool(name.strip()) and _IDENTIFIER_NAME.fullmatch(name.strip()) is not None
    steps = np.diff(numbers)
    if _counts_in_runs(numbers, steps):
        is_counter = is_identifier or not _is_related(numbers, features, name, others)
        return "counts the rows again and again" if is_counter else ""
    if _goes_one_way(steps, ties=is_date):
        even = abs(np.corrcoef(numbers, np.arange(len(numbers)))[0, 1]) >= _EVEN
        if is_time or is_identifier or even or not _rows_are_ordered(features, name, others):
            return "follows the order of the rows"
    return ""


def _order_values(values: pd.Series) -> tuple[Floats | None, bool]:
    """Whole numbers, or dates as days, with nearly all present; None for anything else."""
    if is_number(values.dtype):
        numbers = values.dropna().to_numpy(dtype=np.float64)
        is_date = False
        fits = _whole(numbers)
    else:
        numbers, is_date = _days_of(values)
        fits = is_date
    enough = len(numbers) >= 0.9 * len(values) and len(numbers) > 1
    finite = enough and bool((np.abs(numbers) < _LARGEST).all())  # sums of squares are numbers
    return (numbers if fits and finite and np.ptp(numbers) > 0 else None), is_date


def _days_of(values: pd.Series) -> tuple[Floats, bool]:
    none = np.empty(0)
    if isinstance(values.dtype, pd.CategoricalDtype):
        return none, False
    if is_text(values) and not _is_measured(values):
        return none, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # the column is described again if it is a feature
            column = describe(values, str(values.name), "coded")
            days = encode(values, column) if column.kind == "date" else none
    except (InvalidInputError, OverflowError, ValueError):
        return none, False
    return days[~np.isnan(days)], column.kind == "date"


def _goes_one_way(steps: Floats, *, ties: bool) -> bool:
    up, down = (steps >= 0, steps <= 0) if ties else (steps > 0, steps < 0)
    return bool(max(up.mean(), down.mean()) >= _RISING)


def _counts_in_runs(numbers: Floats, steps: Floats) -> bool:
    """Whether runs of at least ten rows on average each count 1, 2, 3, ... or 0, 1, 2, ..."""
    if numbers[0] not in (0.0, 1.0):
        return False
    resets = steps != 1.0
    n_runs = int(resets.sum()) + 1
    restarts = bool((numbers[1:][resets] == numbers[0]).all())
    return n_runs > 1 and restarts and len(numbers) >= 10 * n_runs


def _ranked(features: pd.DataFrame, name: str, others: list[str]) -> Floats:
    """Ranks of the other columns of numbers, at most 200 of them, standardised; rows without a value: 0."""
    names = [other for other in others if other != name and is_number(features[other].dtype)][:200]
    ranks = features[names].astype(np.float64).rank()
    standard = (ranks - ranks.mean()) / ranks.std().replace(0.0, np.nan)
    return np.asarray(standard.fillna(0.0).to_numpy())


def _is_related(numbers: Floats, features: pd.DataFrame, name: str, others: list[str]) -> bool:
    """Whether the ranks of another column of numbers go with these."""
    if len(numbers) < len(features):
        return True
    ranks = pd.Series(numbers).rank().to_numpy()
    correlations = _ranked(features, name, others).T @ ((ranks - ranks.mean()) / ranks.std()) / len(ranks)
    return bool((np.abs(correlations) > _RELATED / np.sqrt(len(ranks))).any())


def _rows_are_ordered(features: pd.DataFrame, name: str, others: list[str]) -> bool:
    """Whether rows that follow each other are alike in another column: in ranks, or in levels."""
    n = len(features)
    ranks = _ranked(features, name, others)
    serial = (ranks[1:] * ranks[:-1]).mean(axis=0)
    if (np.abs(serial) > _RELATED / np.sqrt(n)).any():
        return True
    words = (features[other] for other in others if other != name and not is_number(features[other].dtype))
    return any(_levels_are_ordered(pd.factorize(values)[0]) for values in words)


def _levels_are_ordered(codes: npt.NDArray[np.int64]) -> bool:
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    expected = float(shares @ shares)
    same = float((codes[1:] == codes[:-1]).mean())
    error = np.sqrt(max(expected * (1.0 - expected), 1e-12) / len(codes))
    return abs(same - expected) > _RELATED * error


# ---- dates among the features --------------------------------------------------------------------


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
            f"dates count as features, in days since 1970{other}: {listing(dates)}. drop=[...] leaves them "
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
        notice(
            f"columns that look like dates count as numbers: {listing(coded)}. drop=[...] leaves them out."
        )


def _is_date(name: str, values: Floats, low: float, high: float) -> bool:
    if _DATE_NAME.fullmatch(name):
        return True
    if not (len(values) >= _FEWEST and low >= 19000101 and high <= 21001231 and _whole(values)):
        return False
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())
