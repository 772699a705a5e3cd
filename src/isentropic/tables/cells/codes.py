"""Codes for missing values among numbers: -999, 9999, 99, -1, recognized by their form and their place."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..._core.values import Floats

_FEWEST = 3  # times that a code occurs, all codes of a column together
_NINES = re.compile(r"-?(9{2,}|9{2,}[.]9+|9[.]9+|-9)")  # 99, 999, 99.9, -9 and so on
_BESIDE = re.compile(r"-?(9*[678]|8{2,}|7{2,}|6{2,})")  # 98 and 97 beside 99; 88, 77
_FAR = 2.0  # times the range of all other values, between them and a code
_VERY_FAR = 10.0  # and of 99.99 and the like, which may be a price
_FEWEST_OTHERS = 5  # different values beside -1 and -9, which may be values themselves


def missing_codes(values: Floats, known: Sequence[float] = ()) -> tuple[float, ...]:
    """The codes for missing values in a column of numbers, NaN left aside; ``O(n log n)``.

    A code is the lowest or the highest value, written in nines (or -1), and stands out in one of two ways:
    it is negative where all other values are not; or its distance to the other values is more than twice
    their range (ten times for fractions, as 99.99 may be a price). It occurs at least three times, or
    once where it is ``known`` from another column.
    """
    present = values[np.isfinite(values)]
    if not len(present) or not _may_have(float(present.min()), float(present.max())):
        return ()
    distinct, counts = np.unique(present, return_counts=True)
    for side in (1, -1):
        codes = _at_end(distinct[::side], counts[::side], known)
        if codes:
            return codes
    return ()


def _may_have(low: float, high: float) -> bool:
    return low == -1.0 or any(_NINES.fullmatch(_text(end)) for end in (low, high))


def _text(value: float) -> str:
    return f"{value:.10g}"


def _at_end(distinct: Floats, counts: np.ndarray, known: Sequence[float]) -> tuple[float, ...]:
    """Codes among the first values; ``distinct`` begins at the end that is looked at."""
    n_codes = 0
    while n_codes < len(distinct) and _is_form(distinct[n_codes], with_beside=True):
        n_codes += 1
    for size in range(n_codes, 0, -1):  # 97, 98 and 99 together, or 99 alone
        codes, others = distinct[:size], distinct[size:]
        has_nines = any(_is_form(code, with_beside=False) for code in codes)
        often = counts[:size].sum() >= _FEWEST or bool(np.isin(codes, known).all())
        if has_nines and often and len(others) > 1 and _stands_out(codes, others):
            return tuple(float(code) for code in codes)
    return ()


def _is_form(value: float, *, with_beside: bool) -> bool:
    text = _text(float(value))
    if value == -1.0 or _NINES.fullmatch(text):
        return True
    return with_beside and _BESIDE.fullmatch(text) is not None


def _stands_out(codes: Floats, others: Floats) -> bool:
    low, high = float(others.min()), float(others.max())
    gap = max(float(codes.min()) - high, low - float(codes.max()))
    if codes.max() < 0.0 <= low:
        is_digit = codes.min() > -10.0  # which differences and scores around 0 have, too
        return not is_digit or (len(others) >= _FEWEST_OTHERS and low > 0.0)
    is_whole = bool((codes == np.floor(codes)).all())
    far = _FAR if is_whole else _VERY_FAR
    return float(np.abs(codes).max()) >= 99.0 and gap > far * (high - low)
