"""Roles of the columns: features, labels, the target, names of rows, ignored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Self

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from ..._core.errors import InvalidInputError, listing, no_such_column, notice, plural, require
from ..._core.values import Role
from ..raw import RawTable
from .columns import is_number
from .dates import texts_of
from .preparation import Preparation
from .suspects import Finding, is_text, names_every_row, suspicious_columns

_NESTED_WORDS = {list: "lists", tuple: "lists", np.ndarray: "lists", dict: "records"}
_NESTED = (*_NESTED_WORDS, set, frozenset, pd.Series, pd.DataFrame)
_ASKED = ("drop", "labels", "keep", "features")  # in the order in which patterns are obeyed


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles that the caller gave to columns: by name, by pattern as ``x_*``, or several with commas."""

    target: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    index: str | None
    features: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: str | os.PathLike[str] | None,
        drop: Iterable[str],
        keep: Iterable[str],
        index: str | None,
        features: Iterable[str] = (),
        labels: Iterable[str] = (),
    ) -> Self:
        """Roles that do not contradict each other; a single name needs no list."""
        is_name = target is None or isinstance(target, (str, os.PathLike))
        require(is_name, "target", "the name of a column, as text", target)
        wanted = None if target is None else os.fspath(target)
        asked = {"drop": drop, "labels": labels, "keep": keep, "features": features}
        given: dict[str, tuple[str, ...]] = {}
        for what, names in asked.items():
            given[what] = (names,) if isinstance(names, str) else tuple(names)
            for name in given[what]:
                require(isinstance(name, str), what, "names of columns", name)
        require(index is None or isinstance(index, str), "index", "the name of a column", index)
        roles = cls(wanted, given["drop"], given["keep"], index, given["features"], given["labels"])
        roles._require_one_each()
        return roles

    def _require_one_each(self) -> None:
        """Raise for a name that is given to two options."""
        for later, what in enumerate(_ASKED):
            for other in _ASKED[:later]:
                if {what, other} != {"keep", "features"}:
                    both = [name for name in getattr(self, what) if name in getattr(self, other)]
                    require(not both, what, f"other columns than {other}", both)
        for what, column in (("target", self.target), ("index", self.index)):
            for other, words in (("drop", "dropped"), ("labels", "a label"), ("features", "a feature")):
                is_free = column is None or column not in getattr(self, other)
                require(is_free, what, f"a column that is not {words}", column)
        hint = "another column than the target"
        require(self.index is None or self.index != self.target, "index", hint, self.index)

    def text_columns(self, preparation: Preparation | None) -> frozenset[str]:
        """Columns whose text matters to the letter, as in '007': names of rows and known levels."""
        if preparation is None:
            return frozenset() if self.index is None else frozenset({self.index})
        index = self.index or preparation.index
        levels = {column.name for column in preparation.columns if column.kind == "nominal"}
        return frozenset(levels if index is None else {*levels, index})

    def resolve(self, raw: RawTable) -> Roles:
        """The roles with patterns replaced by column names; raises for one that matches no column.

        A name that is written out wins over a pattern; of two patterns the one in the order of drop, labels,
        keep and features.
        """
        columns = list(raw.frame.columns)
        named: dict[str, str] = {}
        for what, name in (("target", _target_name(raw, self)), ("index", self.index)):
            if name is not None:
                _require_column(what, name, raw)
                named[name] = what
        wanted = {what: [_match(what, one, raw) for one in _pieces(getattr(self, what), columns)]
                  for what in _ASKED}  # fmt: skip
        for what, found in wanted.items():
            for (name, *_), exact in found:
                if exact:
                    free = named.get(name, what) == what or {named[name], what} <= {"keep", "features"}
                    require(free, what, f"other columns than {named.get(name)}", [name])
                    named[name] = what
        for what, found in wanted.items():
            for matches, exact in found:
                named |= {} if exact else {name: what for name in matches if name not in named}
        chosen = {what: tuple(name for name in columns if named.get(name) == what) for what in _ASKED}
        return replace(self, **chosen)  # type: ignore[arg-type]


def _pieces(names: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Names as they are where a column is called so, else the pieces between their commas."""
    known = set(columns)
    pieces: list[str] = []
    for name in names:
        parts = [part.strip() for part in name.split(",") if part.strip()]
        pieces += [name] if name in known or not parts else parts
    return pieces


def _match(what: str, pattern: str, raw: RawTable) -> tuple[list[str], bool]:
    """The columns of a name or pattern, and whether it is a name."""
    columns = list(raw.frame.columns)
    if pattern in columns:
        return [pattern], True
    matches = [name for name in columns if fnmatchcase(name, pattern)]
    if not matches:
        raise no_such_column(what, raw.name, pattern, columns)
    return matches, False


def _require_column(what: str, name: str, raw: RawTable) -> None:
    if name not in raw.frame.columns:
        raise no_such_column(what, raw.name, name, raw.frame.columns)


# ---- the role of every column --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoleAssignment:
    """The role of every column of a table, in their order, and why it has it."""

    roles: Mapping[str, Role]
    why: Mapping[str, str]  # of features only where it was asked for
    target: str | None
    index: str | None

    def named(self, *roles: Role) -> tuple[str, ...]:
        """The columns that have one of these roles."""
        return tuple(name for name, role in self.roles.items() if role in roles)


def assign_roles(raw: RawTable, asked: Roles) -> RoleAssignment:
    """The role of each column: as requested, else by rules, each of which gives a notice."""
    roles = asked.resolve(raw)
    target = _target_name(raw, roles)
    given: dict[str, tuple[Role, str]] = {}
    given |= dict.fromkeys((*roles.features, *roles.keep), ("feature", "asked for"))
    given |= dict.fromkeys(roles.labels, ("label", "asked for"))
    given |= dict.fromkeys(roles.drop, ("ignored", "asked for"))
    given |= (
        {}
        if target is None
        else {target: ("target", "asked for" if asked.target else "the target of the source")}
    )
    given |= {} if roles.index is None else {roles.index: ("name", "asked for")}
    others = [name for name in raw.frame.columns if name not in given]
    require_flat(raw, [*roles.drop, *roles.labels, *(others if roles.features else ())])
    if roles.features:
        given |= dict.fromkeys(others, ("label", "not among the features asked for"))
        return _assign(raw, given, target, roles.index)
    ruled, index = _apply_rules(raw, others, roles.index)
    return _assign(raw, given | ruled, target, index)


def _assign(
    raw: RawTable, given: Mapping[str, tuple[Role, str]], target: str | None, index: str | None
) -> RoleAssignment:
    every = {name: given.get(name, ("feature", "")) for name in raw.frame.columns}
    roles: dict[str, Role] = {name: role for name, (role, _) in every.items()}
    return RoleAssignment(roles, {name: why for name, (_, why) in every.items()}, target, index)


def _apply_rules(
    raw: RawTable, others: Sequence[str], index: str | None
) -> tuple[dict[str, tuple[Role, str]], str | None]:
    """Roles of columns of which nothing was asked, and the column that names the rows."""
    frame = raw.frame
    if raw.one_unit:
        return {}, index
    found = suspicious_columns(frame[[name for name in others if name != raw.target]])
    if raw.declared:
        names = [name for name, one in found.items() if one.rule == "names"]
        if names:
            notice(
                f"columns that number or name the rows, or hardly repeat, count as features, as {raw.name} "
                f"declares them: {listing(names)}. Leave them out with drop=[...]."
            )
        found = {name: one for name, one in found.items() if one.rule == "empty"}
    has_names = index is not None or not isinstance(frame.index, pd.RangeIndex)
    names = [name for name, one in found.items() if one.rule == "names"]
    words_first = sorted(names, key=lambda name: is_number(frame[name].dtype))
    index = index if has_names else next((one for one in words_first if names_every_row(frame[one])), None)
    _notice_roles(found, None if has_names else index)
    return {
        name: (_apply_rule(one, frame[name], name == index), one.why) for name, one in found.items()
    }, index


def _apply_rule(found: Finding, values: pd.Series, is_index: bool) -> Role:
    if is_index:
        return "name"
    if found.rule in ("order", "levels") or (found.rule == "names" and is_text(values)):
        return "label"
    return "ignored"


def _notice_roles(found: Mapping[str, Finding], index: str | None) -> None:
    """One notice for each rule that found columns."""
    by_rule: dict[str, list[str]] = {}
    for name, one in found.items():
        by_rule.setdefault(one.rule, []).append(name)
    texts = {
        "empty": "columns without any value are left out: {}.",
        "constant": "columns with the same value in every row are left out: {}.",
        "names": "columns that number or name the rows, or hardly repeat, are no features: {}. "
        + ("" if index is None else f"{index!r} names the rows; ")
        + "{keep} counts them as features.",
        "order": "columns that follow the order of the rows are labels, for colour only: {}. {keep} counts "
        "them as features.",
        "levels": "columns with more levels than rows in each are labels, for colour only: {}. {keep} counts "
        "them as features.",
    }
    for rule, text in texts.items():
        names = by_rule.get(rule, [])
        if names:
            plain = all(name.isprintable() and not set(name) & set("',[]") for name in names)
            keep = f"keep=['{','.join(names)}']" if plain and len(names) <= 3 else "keep=[...]"
            reasons = [f"{name!r} ({found[name].why})" for name in names] if rule == "levels" else []
            few = ", ".join(reasons) if 0 < len(reasons) <= 2 else listing(names)
            notice(text.format(few, keep=keep))


# ---- a table, divided ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A raw table, divided by roles."""

    features: pd.DataFrame
    target: pd.Series | None
    row_names: tuple[str, ...]
    others: pd.DataFrame  # all columns but the features, as they were read

    @property
    def target_name(self) -> str | None:
        return None if self.target is None else str(self.target.name)


def split(raw: RawTable, found: RoleAssignment) -> Parts:
    """Divide a table that is fitted."""
    frame, target = raw.frame, found.target
    names = found.named("feature")
    if raw.target in names and target is not None and raw.target != target:
        notice(
            f"{raw.target!r}, which {raw.name} knows as its target, is now a feature beside the target "
            f"{target!r}. Leave it out by drop=['{raw.target}']."
        )
    if not names:
        raise InvalidInputError(
            f"{raw.name} must have a column left for the features, got none. Its columns are "
            f"{listing(frame.columns)}: drop fewer of them."
        )
    return _parts(raw, names, target, found.index)


def _parts(raw: RawTable, features: Sequence[str], target: str | None, index: str | None) -> Parts:
    frame, chosen = raw.frame, set(features)
    others = [name for name in frame.columns if name not in chosen]
    return Parts(
        frame[list(features)] if others or list(features) != list(frame.columns) else frame,
        None if target is None else frame[target],
        _row_names(raw, index),
        frame[others],
    )


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


def _target_name(raw: RawTable, roles: Roles) -> str | None:
    """The target asked for, else that of the source, unless something else is asked of it by name."""
    name = raw.target if raw.has_labels or roles.target is None else roles.target
    taken = (*roles.drop, *roles.labels, *roles.keep, *roles.features, roles.index)
    return None if name in taken else name


def split_like_fitted(raw: RawTable, roles: Roles, preparation: Preparation) -> Parts:
    """Divide new rows: every fitted column must be there; target and names of rows may be absent."""
    frame = raw.frame
    needed = [column.name for column in preparation.columns]
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        raise InvalidInputError(
            f"{raw.name} must have the columns of the fitted table, got none called {listing(lacking)}. "
            f"Its columns are {listing(frame.columns)}."
        )
    target = _new_target(raw, roles, preparation)
    index = roles.index or (preparation.index if preparation.index in frame.columns else None)
    if preparation.index is not None and index is None:
        notice(
            f"{raw.name} has no column {preparation.index!r}, which names the rows of the fitted table, so "
            "that its rows go by their numbers. index=... says which column names them."
        )
    known = {*needed, *preparation.drop, *preparation.labels, preparation.target, target, index, raw.target}
    used = {*needed, target, index}
    require_flat(raw, [name for name in frame.columns if name not in used])
    extra = [name for name in frame.columns if name not in known]
    if extra:
        notice(
            f"{raw.name} has {plural(len(extra), 'column')} that the fitted table had not, left out: "
            f"{listing(extra)}."
        )
    return _parts(raw, needed, target, index)


def _new_target(raw: RawTable, roles: Roles, preparation: Preparation) -> str | None:
    if raw.has_labels:
        return raw.target
    if roles.target is not None:
        _require_column("target", roles.target, raw)
        return roles.target
    name = preparation.target
    is_filled = name in raw.frame.columns and raw.frame[name].notna().any()
    return name if is_filled else None


def _row_names(raw: RawTable, index: str | None) -> tuple[str, ...]:
    if index is None:
        return tuple(map(str, raw.frame.index))
    _require_column("index", index, raw)
    names = raw.frame[index]
    if names.isna().any():
        raise InvalidInputError(
            f"index must name every row, got {plural(int(names.isna().sum()), 'row')} without a name in "
            f"{index!r}. Fill them in, or choose another column."
        )
    return tuple(texts_of(names))
