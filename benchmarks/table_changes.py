"""Changes of a table that a good report should not be fooled by: the laws of the metamorphic tests.

Each change takes a table and a generator and returns another table. All but one leave the answer as it is
or better; after :data:`UNRELATED` every column is shuffled by itself, and the report must say that the
columns are unrelated.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
import pandas as pd

Change = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]

_WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord")
_CODE = -999
_FEW_VALUES = 10  # a column of at most so many different numbers is no measurement


def add_random_words(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.assign(colour_code=rng.choice(_WORDS, len(frame)))


def add_constant_text(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.assign(source="survey A")


def add_constant_number(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.assign(version=3)


def add_case_number(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers that rise with the rows, with gaps, in front of all columns."""
    numbers = 1000 + np.cumsum(rng.integers(1, 9, len(frame)))
    return pd.concat([pd.Series(numbers, frame.index, name="case_no"), frame], axis=1)


def add_export_time(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Time of day at which each row was written, a few seconds apart."""
    seconds = pd.to_timedelta(np.cumsum(rng.integers(1, 5, len(frame))), unit="s")
    times = pd.Timestamp("2024-03-05 09:00:00") + seconds
    return frame.assign(exported_at=times.strftime("%Y-%m-%d %H:%M:%S").to_numpy())


def put_missing_codes(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """-999 in 5% of the rows of one column of numbers."""
    column = number_column(frame)
    rows = rng.choice(len(frame), max(1, round(0.05 * len(frame))), replace=False)
    changed = frame.copy()
    changed.loc[changed.index[rows], column] = _CODE
    return changed


def copy_rows(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """30% of the rows a second time, at the end."""
    rows = rng.choice(len(frame), round(0.3 * len(frame)), replace=False)
    return pd.concat([frame, frame.iloc[rows]], ignore_index=True)


def remove_one_value(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    column = number_column(frame)
    changed = frame.astype({column: float})
    changed.loc[changed.index[rng.integers(len(frame))], column] = np.nan
    return changed


def change_unit(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """One column of numbers times 1,000, as metres become millimetres."""
    column = number_column(frame)
    return frame.assign(**{column: frame[column] * 1000})


def shuffle_rows(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


def reorder_columns(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.iloc[:, ::-1]


def shuffle_each_column(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Every column in an order of its own: what the columns had to do with each other is gone."""
    shuffled = {column: frame[column].to_numpy()[rng.permutation(len(frame))] for column in frame.columns}
    return pd.DataFrame(shuffled)


def number_column(frame: pd.DataFrame) -> str:
    """The first column that is a measurement: numbers of many values; else the one of the most values."""
    numbers = frame.select_dtypes("number")
    if numbers.empty:
        raise ValueError("the table must have a column of numbers, got only text")
    values = numbers.nunique()
    many = values[values > _FEW_VALUES]
    return str(many.index[0] if len(many) else values.idxmax())


# What must not change the answer for the worse.
CHANGES: MappingProxyType[str, Change] = MappingProxyType(
    {
        "random words": add_random_words,
        "constant text": add_constant_text,
        "constant number": add_constant_number,
        "case number": add_case_number,
        "export time": add_export_time,
        "missing codes": put_missing_codes,
        "copied rows": copy_rows,
        "one missing value": remove_one_value,
        "other unit": change_unit,
        "shuffled rows": shuffle_rows,
        "reordered columns": reorder_columns,
    }
)
UNRELATED = "every column shuffled"


def changed_table(frame: pd.DataFrame, change: str, seed: int = 0) -> pd.DataFrame:
    """The table after a change of :data:`CHANGES`, or with every column shuffled."""
    apply = shuffle_each_column if change == UNRELATED else CHANGES[change]
    return apply(frame, np.random.default_rng([seed, *change.encode()]))
