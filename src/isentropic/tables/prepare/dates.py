"""Dates: recognised among text, and made days since 1970, and cycles of the year, the week and the day."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from pandas.api import types

from ..._core.errors import InvalidInputError, listing, notice, plural
from ..._core.values import Floats

DATES = ("number", "cycle")
CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # in days
_NEARLY = 0.95  # share of dates that makes a text column one of dates; the rest counts as missing
_PER_SECOND = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # the units of pandas
_MONTH = 31.0  # days: dates within one say nothing of a year

_TIME = r"([ T]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
_ISO = re.compile(rf"\d{{4}}[-/]\d\d[-/]\d\d{_TIME}|\d{{4}}-(0[1-9]|1[0-2])")
_NAMES = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[.]?"
_WORDY = re.compile(rf"(?i:\d{{1,2}}[ -]{_NAMES}[ -]\d{{4}}{_TIME}|{_NAMES} (\d{{1,2}},? )?\d{{4}}{_TIME})")
_EITHER_WAY = re.compile(  # 31.12.2012, 12/31/2012
    r"^(?P<first>[0-9]{1,2})(?P<sign>[./-])(?P<second>[0-9]{1,2})(?P=sign)(?P<year>[0-9]{4}|[0-9]{2})"
    r"(?:[ T]+(?P<hour>[0-9]{1,2}):(?P<min>[0-9]{2})(?::(?P<sec>[0-9]{2}(?:[.][0-9]+)?))?"
    r" ?(?P<half>[AaPp][Mm])?)?$"
)
_ORDERS = ("dmy", "mdy")
_FEWEST_RISING = 5  # different dates, of which fewer may rise by chance


def are_dates(words: pd.Series, counts: np.ndarray) -> bool:
    """Whether words, so many times each, are dates but for a few, in an order that is no question."""
    written = words.str.fullmatch(_ISO) | words.str.fullmatch(_WORDY)
    return bool(len(words) and counts[written.to_numpy(dtype=bool)].sum() >= _NEARLY * counts.sum())


def date_order(words: pd.Series, in_rows: pd.Series) -> tuple[str, bool] | None:
    """``"dmy"`` or ``"mdy"`` for dates as 31.12.2012, and whether it is certain; None for other words.

    Where every date fits both, the order in which the rows rise decides, else the sign between: a dot or a
    hyphen has the day first, a slash the month.
    """
    if not len(words) or not words.str.fullmatch(_EITHER_WAY).all():
        return None
    fits = [order for order in _ORDERS if moments_of(words, order).notna().all()]
    if len(fits) < 2:
        return (fits[0], True) if fits else None
    moments = {order: moments_of(in_rows.dropna(), order) for order in _ORDERS}
    if (moments["dmy"] == moments["mdy"]).all():
        return "dmy", True
    rising = [o for o, m in moments.items() if m.is_monotonic_increasing or m.is_monotonic_decreasing]
    if len(rising) == 1 and len(words) > _FEWEST_RISING:
        return rising[0], True
    return ("mdy" if "/" in words.iloc[0] else "dmy"), False


def moments_of(series: pd.Series, order: str) -> pd.Series:
    """Moments in UTC of dates with the day (``"dmy"``) or month (``"mdy"``) first; NaT for what is none."""
    if types.is_datetime64_any_dtype(series.dtype):
        return pd.to_datetime(series, utc=True)
    text = series.astype(str).str.strip().where(series.notna())
    parts = text.str.extract(_EITHER_WAY)
    day, month = (parts["first"], parts["second"]) if order == "dmy" else (parts["second"], parts["first"])
    year = parts["year"].where(parts["year"].str.len() == 4, _century(parts["year"]))
    iso = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    moments = pd.to_datetime(iso, format="%Y-%m-%d", utc=True, errors="coerce")
    clock = pd.to_timedelta(_clock(parts), errors="coerce").where(parts["hour"].notna(), pd.Timedelta(0))
    return moments + clock


def _century(years: pd.Series) -> pd.Series:
    """The year of two digits: 69 to 99 are 1969 to 1999, as in POSIX."""
    numbers = pd.to_numeric(years, errors="coerce")
    return (numbers + 1900).where(numbers >= 69, numbers + 2000).astype("Int64").astype("string")


def _clock(parts: pd.DataFrame) -> pd.Series:
    hours = pd.to_numeric(parts["hour"], errors="coerce")
    is_noon = parts["half"].str.lower().eq("pm") & (hours < 12)
    is_midnight = parts["half"].str.lower().eq("am") & (hours == 12)
    hours = hours + 12 * is_noon.astype(float) - 12 * is_midnight.astype(float)
    seconds = pd.to_numeric(parts["sec"], errors="coerce").fillna(0.0)
    total = 3600.0 * hours + 60.0 * pd.to_numeric(parts["min"], errors="coerce") + seconds
    return pd.to_timedelta(total, unit="s")


def texts_of(values: pd.Series | pd.Index) -> list[str]:
    """Values as text, dates of any year included: pandas writes those that Python knows."""
    try:
        return list(map(str, values))
    except (OverflowError, ValueError, NotImplementedError):
        return list(np.datetime_as_string(pd.Series(values).to_numpy()))


def look_like_dates(words: pd.Series) -> pd.Series:
    """Flags of words that are dates in any notation."""
    return words.str.fullmatch(_ISO) | words.str.fullmatch(_WORDY) | words.str.fullmatch(_EITHER_WAY)


def days(series: pd.Series, name: str, order: str = "") -> Floats:
    """Days since 1970, with fractions; NaN where missing, or with a notice where a few words are no dates."""
    if types.is_numeric_dtype(series.dtype):
        raise not_dates(name, series)
    try:
        moments = moments_of(series, order) if order else _moments(series)
    except (pd.errors.OutOfBoundsDatetime, OverflowError):
        return _distant_days(series)
    lost = (moments.isna() & series.notna()).to_numpy(dtype=bool)
    if lost.any():
        lost = lost & (series.astype(str).str.strip() != "").to_numpy(dtype=bool)
    if lost.sum() > (1 - _NEARLY) * series.notna().sum():
        raise not_dates(name, series[lost])
    if lost.any():
        notice(
            f"column {name!r} holds dates, and {plural(int(lost.sum()), 'value')} that are none and count as "
            f"missing: {listing(series[lost].unique())}."
        )
    epoch = pd.Timestamp(0, tz="UTC")
    try:
        since = moments - epoch
    except (pd.errors.OutOfBoundsDatetime, OverflowError):  # nanoseconds end in the years 1677 and 2262
        return _distant_days(moments)
    numbers = since / pd.Timedelta(days=1)
    return np.asarray(numbers.to_numpy(dtype=np.float64))


def _distant_days(moments: pd.Series) -> Floats:
    """Days of moments of any year, by their own unit: pandas would have them all in the finest."""
    clock = moments.dt.tz_convert(None) if moments.dt.tz is not None else moments
    counts = clock.to_numpy()
    per_day = 86_400.0 * _PER_SECOND[np.datetime_data(counts.dtype)[0]]
    return np.where(np.isnat(counts), np.nan, counts.view(np.int64) / per_day)


def _moments(series: pd.Series) -> pd.Series:
    """Moments in UTC; NaT for what is none, or missing."""
    if types.infer_dtype(series) != "string":
        return pd.to_datetime(series, format="ISO8601", utc=True, errors="coerce")
    text = series.astype(str).str.strip().str.replace("/", "-").where(series.notna())
    moments = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    wordy = (moments.isna() & text.str.fullmatch(_WORDY, na=False)).to_numpy(dtype=bool)
    if wordy.any():
        moments = moments.where(
            ~wordy, pd.to_datetime(text.where(wordy), format="mixed", utc=True, errors="coerce")
        )
    return moments


def not_dates(name: str, strays: pd.Series) -> InvalidInputError:
    return InvalidInputError(
        f"column {name!r} must be dates as YYYY-MM-DD, got {listing(strays.dropna().unique())}. "
        "Correct the values, or leave them empty and choose missing='drop' or 'median'."
    )


def cycles_of(values: Floats) -> tuple[str, ...]:
    """The cycles in which dates differ; of the year only if they span more than a month."""
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    differ = {
        "year": np.ptp(known) > _MONTH,
        "week": len(np.unique(np.floor(known) % 7.0)) > 1,
        "day": len(np.unique(known % 1.0)) > 1,
    }
    return tuple(name for name, is_one in differ.items() if is_one)


def on_circle(values: Floats, cycle: str) -> Floats:
    """``(sin, cos)`` of the position within a cycle, (n, 2): its end is next to its beginning."""
    angle = 2.0 * np.pi * (values / CYCLES[cycle])
    return np.column_stack([np.sin(angle), np.cos(angle)])
