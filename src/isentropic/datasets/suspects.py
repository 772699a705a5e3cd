"""Columns that are probably no measurements: identifiers and dates. They are kept, and named in a warning."""

from __future__ import annotations

import re

import numpy as np

from .._values import Floats
from .columns import Column
from .encoding import Encoded
from .notices import listed, notice

_FEWEST = 10  # rows below which distinct values say nothing
_NEARLY = 0.95  # share of distinct values that makes a column called "id" an identifier
_IDENTIFIER_NAME = re.compile(
    r"(?i:(^|.*[\W_])(id|uuid|guid|key|nbr|nr|number|index))|.*[a-z](Id|ID)|Unnamed: \d+"
)
_DATE_NAME = re.compile(r"(?i:(^|.*[\W_])(date|datetime|timestamp))|.*[a-z](Date|Timestamp)")


def name_suspects(encoded: Encoded) -> None:
    """Warn of identifiers and of dates among the columns."""
    low, high = encoded.X.min(axis=0)[encoded.firsts], encoded.X.max(axis=0)[encoded.firsts]
    spans = list(zip(encoded.columns, encoded.firsts, low.tolist(), high.tolist(), strict=True))
    identifiers = [
        column.name for column, first, a, b in spans if _is_identifier(encoded, column, first, b - a)
    ]
    if identifiers:
        notice(
            f"columns that look like identifiers count as features: {listed(identifiers)}. "
            "Leave them out with drop=[...], or name the rows with index=..."
        )
    dates = [column.name for column in encoded.columns if column.kind == "date"]
    if dates:
        notice(f"dates count as features, in days since 1970: {listed(dates)}. drop=[...] leaves them out.")
    coded = [
        column.name
        for column, first, a, b in spans
        if column.kind == "number" and _is_date(column.name, encoded.X[:, first], a, b)
    ]
    if coded:
        notice(f"columns that look like dates count as numbers: {listed(coded)}. drop=[...] leaves them out.")


def _is_identifier(encoded: Encoded, column: Column, first: int, spread: float) -> bool:
    n = len(encoded.X)
    if n < _FEWEST or column.kind == "date":
        return False
    if column.kind == "nominal":
        return len(column.levels) >= n and _all_differ(encoded.X[:, first : first + encoded.width(column)])
    called_so = _IDENTIFIER_NAME.fullmatch(column.name) is not None
    if not called_so and spread != n - 1:  # NaN, and so no identifier, where a value is missing
        return False
    values = encoded.X[:, first]
    return _whole(values) and len(np.unique(values)) >= (_NEARLY * n if called_so else n)


def _all_differ(codes: Floats) -> bool:
    if codes.shape[1] == 1:
        return len(np.unique(codes)) == len(codes)
    return bool((codes.sum(axis=0) <= 1).all())  # one-hot: no level has two rows


def _is_date(name: str, values: Floats, low: float, high: float) -> bool:
    if _DATE_NAME.fullmatch(name):
        return True
    if not (len(values) >= _FEWEST and low >= 19000101 and high <= 21001231 and _whole(values)):
        return False
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())
