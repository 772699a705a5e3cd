"""Roles of the columns: features, the target, names of rows, left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from ..._errors import InvalidInputError, require
from ..notices import listed, no_such_column, notice, plural
from ..raw import RawTable
from .columns import is_number
from .dates import texts_of
from .preparation import Preparation
from .suspects import empty_columns, names_every_row, row_naming_columns

_NESTED_WORDS = {list: "lists", tuple: "lists", np.ndarray: "lists", dict: "records"}
_NESTED = (*_NESTED_WORDS, set, frozenset, pd.Series, pd.DataFrame)


@dataclass(frozen=True, slots=True)
class Roles:
    """What the caller asked of columns by name."""

    target: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    index: str | None

    @classmethod
    def of(
        cls,
        target: str | os.PathLike[str] | None,
        drop: Iterable[str],
        keep: Iterable[str],
        index: str | None,
    ) -> Self:
        """The roles, checked against each other; one name to drop or to keep may stand by itself."""
        is_name = target is None or isinstance(target, (str, os.PathLike))
        require(is_name, "target", "the name of a column, as text", target)
        wanted = None if target is None else os.fspath(target)
        left_out, kept = ((names,) if isinstance(names, str) else tuple(names) for names in (drop, keep))
        for what, names in (("drop", left_out), ("keep", kept)):
            for name in names:
                require(isinstance(name, str), what, "names of columns", name)
        both = [name for name in kept if name in left_out]
        require(not both, "keep", "other columns than drop", both)
        require(index is None or isinstance(index, str), "index", "the name of a column", index)
        for what, column in (("target", wanted), ("index", index)):
            require(column is None or column not in left_out, what, "a column that is not dropped", column)
        require(index is None or index != wanted, "index", "another column than the target", index)
        return cls(wanted, left_out, kept, index)

    def text_columns(self, preparation: Preparation | None) -> frozenset[str]:
        """Columns whose text matters to the letter, as in '007': names of rows and known levels."""
        if preparation is None:
            return frozenset() if self.index is None else frozenset({self.index})
        index = self.index or preparation.index
        levels = {column.name for column in preparation.columns if column.kind == "nominal"}
        return frozenset(levels if index is None else {*levels, index})


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A raw table, divided by roles."""

    features: pd.DataFrame
    target: pd.Series | None
    row_names: tuple[str, ...]

    @property
    def target_name(self) -> str | None:
        return None if self.target is None else str(self.target.name)


def split(raw: RawTable, roles: Roles) -> Parts:
    """Divide a table that is fitted."""
    frame, target = raw.frame, _target_name(raw, roles)
    taken = {*roles.drop, target, roles.index} - {None}
    features = frame.drop(columns=list(taken)) if taken else frame
    if raw.target in features.columns and roles.target is not None:
        notice(
            f"{raw.target!r}, which {raw.name} knows as its target, is now a feature beside the target "
            f"{target!r}. Leave it out by drop=['{raw.target}']."
        )
    if not features.shape[1]:
        raise InvalidInputError(
            f"{raw.name} must have a column left for the features, got none. Its columns are "
            f"{listed(frame.columns)}: drop fewer of them."
        )
    return Parts(features, None if target is None else frame[target], _row_names(raw, roles.index))


def require_columns(raw: RawTable, roles: Roles) -> None:
    """Raise for a column that is named and not there."""
    asked = {
        "target": [_target_name(raw, roles)],
        "drop": roles.drop,
        "keep": roles.keep,
        "index": [roles.index],
    }
    for what, names in asked.items():
        for name in names:
            if name is not None and name not in raw.frame.columns:
                raise no_such_column(what, raw.name, name, raw.frame.columns)


def require_flat(raw: RawTable, left_out: Sequence[str]) -> None:
    """Raise for a column that is used and whose cells are lists or records."""
    for name, dtype in zip(raw.frame.columns, raw.frame.dtypes, strict=True):
        values = raw.frame[name] if is_object_dtype(dtype) and name not in left_out else ()
        odd = next((value for value in values if isinstance(value, _NESTED)), None)
        if odd is not None:
            raise InvalidInputError(
                f"column {name!r} must be numbers, booleans, dates or text, one in each row, got "
                f"{_NESTED_WORDS.get(type(odd), type(odd).__name__)}. Write each of their values as a column "
                f"of its own, or leave it out: drop=[{name!r}]."
            )


def without_empty_columns(raw: RawTable, roles: Roles) -> Roles:
    """The roles, with columns left out that hold no value at all; those that have another role stay."""
    if raw.one_unit:
        return roles
    taken = {*roles.drop, *roles.keep, _target_name(raw, roles), roles.index}
    others = [name for name in raw.frame.columns if name not in taken]
    empty = empty_columns(raw.frame[others])
    if not empty or len(empty) == len(others):  # of nothing else, for missing values to refuse
        return roles
    notice(f"columns without any value are left out: {listed(empty)}.")
    return replace(roles, drop=(*roles.drop, *empty))


def without_names_of_rows(raw: RawTable, roles: Roles) -> Roles:
    """The roles, with columns left out that number or name the rows; the first that can becomes the index."""
    if raw.one_unit:
        return roles
    frame = raw.frame
    taken = {*roles.drop, _target_name(raw, roles), raw.target, roles.index}
    found = row_naming_columns(frame[[name for name in frame.columns if name not in taken]], roles.keep)
    if not found:
        return roles
    if raw.declared:
        notice(
            f"columns that number or name the rows, or hardly repeat, count as features, as {raw.name} "
            f"declares them: {listed(found)}. Leave them out with drop=[...]."
        )
        return roles
    has_names = roles.index is not None or not isinstance(frame.index, pd.RangeIndex)
    words_first = sorted(found, key=lambda name: is_number(frame[name].dtype))
    new_names = (name for name in words_first if names_every_row(frame[name]))
    index = roles.index if has_names else next(new_names, None)
    left_out = tuple(name for name in found if name != index)
    use = "" if has_names or index is None else f"{index!r} names the rows; "
    notice(
        f"columns that number or name the rows, or hardly repeat, are no features: {listed(found)}. "
        f"{use}keep=[...] counts them as features."
    )
    return replace(roles, drop=(*roles.drop, *left_out), index=index)


def _target_name(raw: RawTable, roles: Roles) -> str | None:
    name = raw.target if raw.has_labels or roles.target is None else roles.target
    return None if name in roles.drop else name


def fitted_parts(raw: RawTable, roles: Roles, preparation: Preparation) -> Parts:
    """Divide new rows: every fitted column must be there; target and names of rows may be absent."""
    frame = raw.frame
    needed = [column.name for column in preparation.columns]
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        raise InvalidInputError(
            f"{raw.name} must have the columns of the fitted table, got none called {listed(lacking)}. "
            f"Its columns are {listed(frame.columns)}."
        )
    target = _new_target(raw, roles, preparation)
    index = roles.index or (preparation.index if preparation.index in frame.columns else None)
    if preparation.index is not None and index is None:
        notice(
            f"{raw.name} has no column {preparation.index!r}, which names the rows of the fitted table, so "
            "that its rows go by their numbers. index=... says which column names them."
        )
    known = {*needed, *preparation.drop, preparation.target, target, index, raw.target}
    used = {*needed, target, index}
    require_flat(raw, [name for name in frame.columns if name not in used])
    extra = [name for name in frame.columns if name not in known]
    if extra:
        notice(
            f"{raw.name} has {plural(len(extra), 'column')} that the fitted table had not, left out: "
            f"{listed(extra)}."
        )
    return Parts(frame[needed], None if target is None else frame[target], _row_names(raw, index))


def _new_target(raw: RawTable, roles: Roles, preparation: Preparation) -> str | None:
    if raw.has_labels:
        return raw.target
    if roles.target is not None:
        if roles.target not in raw.frame.columns:
            raise no_such_column("target", raw.name, roles.target, raw.frame.columns)
        return roles.target
    name = preparation.target
    is_filled = name in raw.frame.columns and raw.frame[name].notna().any()
    return name if is_filled else None


def _row_names(raw: RawTable, index: str | None) -> tuple[str, ...]:
    if index is None:
        return tuple(map(str, raw.frame.index))
    if index not in raw.frame.columns:
        raise no_such_column("index", raw.name, index, raw.frame.columns)
    names = raw.frame[index]
    if names.isna().any():
        raise InvalidInputError(
            f"index must name every row, got {plural(int(names.isna().sum()), 'row')} without a name in "
            f"{index!r}. Fill them in, or choose another column."
        )
    return tuple(texts_of(names))
