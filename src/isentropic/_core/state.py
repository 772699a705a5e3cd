"""What a fitted model may hold: declared once by its class, as a table, and checked by one function.

A class lists its attributes in ``_state``: a name, and what it must be. Arrays have sizes with names, which
must agree wherever they appear: ``n`` rows, ``m`` features, ``d`` coordinates, and what else a method counts.
The table of a class adds to those of its bases::

    _state = State(mean_=Array("m"), _projection=Array("m", "d"))

What a class no longer has stands in ``_gone``, so that older files load: the name, and the one value of it
that changes nothing (``...`` for any). A file with another value is refused.

Kernels follow indices without looking at bounds, so nothing that comes from a file reaches one unchecked.
What a table cannot say, a relation between two attributes, is for ``_require_sound`` of the class.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from .kinds import (
    Array,
    Checked,
    Double,
    Flag,
    Kind,
    Names,
    Number,
    Size,
    Sizes,
    Starts,
    StateError,
    Text,
    Whole,
    note,
    wrong,
)

__all__ = [
    "Absent", "Array", "Checked", "Dict", "Double", "Each", "Flag", "Kind", "Maybe", "Model", "Names",
    "Number", "OneOf", "Plain", "Size", "Starts", "State", "StateError", "Text", "Tuple", "Value", "Whole",
    "attributes", "declared", "defaults", "estimators", "inside", "is_fitted", "is_model", "require_state",
]  # fmt: skip


class State(dict[str, Kind]):
    """A table of attributes: the name of each, and what it must be."""


# ---- parts made of parts -----------------------------------------------------------------------


class Maybe(Kind):
    """None, or a part of another kind."""

    def __init__(self, kind: Kind):
        self.kind = kind

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if value is not None:
            self.kind.check(value, part, sizes)


class Absent(Maybe):
    """As :class:`Maybe`, for what some fits do not set at all."""

    may_miss = True


class OneOf(Kind):
    """Of any of these kinds."""

    def __init__(self, *kinds: Kind):
        self.kinds = kinds

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        problem = None
        for kind in self.kinds:
            try:
                return kind.check(value, part, sizes)
            except StateError as error:
                problem = error
        assert problem is not None
        raise problem


class Tuple(Kind):
    """A tuple of these kinds, in order."""

    def __init__(self, *kinds: Kind):
        self.kinds = kinds

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not tuple or len(value) != len(self.kinds):
            raise wrong(part, f"a tuple of {len(self.kinds)}", value)
        for i, (kind, item) in enumerate(zip(self.kinds, value, strict=True)):
            kind.check(item, f"{part}[{i}]", sizes)


class Each(Kind):
    """A list or tuple whose items are all of one kind."""

    def __init__(self, kind: Kind, container: type[list[Any]] | type[tuple[Any, ...]] = tuple):
        self.kind, self.container = kind, container

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not self.container:
            raise wrong(part, f"a {self.container.__name__}", value)
        for i, item in enumerate(value):
            self.kind.check(item, f"{part}[{i}]", sizes)


class Dict(Kind):
    """A dictionary of keys and values of one kind each."""

    def __init__(self, keys: Kind, values: Kind):
        self.keys, self.values = keys, values

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise wrong(part, "a dictionary", value)
        for key, item in value.items():
            self.keys.check(key, f"key of {part}", sizes)
            self.values.check(item, f"{part}[{key!r}]", sizes)


# ---- parts that declare their own --------------------------------------------------------------


class Value(Kind):
    """A value of exactly this class; ``n="rows"`` says that its size n is our size rows."""

    def __init__(self, kind: type, **names: str):
        self.kind, self.names = kind, names

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not self.kind:
            raise wrong(part, f"a {self.kind.__name__}", value)
        _check_inner(value, part, sizes, self.names)


class Model(Kind):
    """An estimator that declares its state: a fitted one, or (``fitted=False``) any."""

    def __init__(self, *, fitted: bool = True, **names: str):
        self.fitted, self.names = fitted, names

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if not is_model(type(value)):
            raise wrong(part, "a method of isentropic", value)
        if self.fitted or is_fitted(value):
            _check_inner(value, part, sizes, self.names)
        else:
            _require_unfitted(value, part)


class Plain(Kind):
    """None, a number, a string, an array of numbers, a stage value, or a collection of those."""

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if value is None or type(value) in (bool, int, float, str):
            return
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
            return
        if type(value) in (list, tuple, set):
            for i, item in enumerate(value):
                self.check(item, f"{part}[{i}]", sizes)
        elif type(value) is dict:
            Dict(OneOf(Text(), Number()), self).check(value, part, sizes)
        elif is_dataclass(value) and declares(type(value)):
            require_state(value, part)
        else:
            raise wrong(part, "a plain value", value)


# ---- the check ---------------------------------------------------------------------------------


def declares(kind: type) -> bool:
    """Whether a class has a table."""
    return isinstance(kind, type) and isinstance(getattr(kind, "_state", None), State)


@cache
def estimators() -> dict[str, str]:
    """The modules of the estimators that a file may hold, by the names of the classes; no class has two."""
    lines = import_module("isentropic.catalogue").BUILT_IN
    return {"Selected": "isentropic.methods.meta.selected"} | {
        kind: module for module, _, kind in (line.target.partition(":") for line in lines)
    }


def is_model(kind: type) -> bool:
    """Whether a class is an estimator of this package: one of another would not load again."""
    return declares(kind) and estimators().get(kind.__name__) == kind.__module__


def is_fitted(model: Any) -> bool:
    return "embedding_" in vars(model)


def declared(kind: type, table: str = "_state") -> State:
    """The table of a class, those of its bases first."""
    found = State()
    for base in reversed(kind.__mro__):
        found.update(vars(base).get(table, {}))
    return found


def attributes(model: type) -> set[str]:
    """The names that an estimator may hold, its parameters included."""
    return {*declared(model), *_parameter_names(model)}


def defaults(model: type) -> dict[str, Any]:
    """What the constructor takes for parameters that are not given."""
    parameters = signature(model).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def require_state(value: Any, part: str = "", sizes: Sizes | None = None) -> None:
    """Raise :class:`StateError` unless a model, or a value, is all that its class declares."""
    sizes = {} if sizes is None else sizes
    held = _held(value)
    if is_model(type(value)):
        _require_parameters(value, part)
    for name, kind in declared(type(value)).items():
        if name in held:
            kind.check(held[name], inside(part, name), sizes)
        elif not kind.may_miss:
            raise _missing(inside(part, name))
    if hasattr(type(value), "_require_sound"):
        try:
            type(value)._require_sound(value)
        except StateError as error:
            raise StateError(inside(part, error.part), error.problem) from None


def _require_parameters(model: Any, part: str) -> None:
    held, kind = _held(model), type(model)
    kinds = declared(kind, "_parameters")
    for name in sorted(set(held) - attributes(kind)):
        raise StateError(inside(part, name), f"is no attribute of {kind.__name__}")
    for name in _parameter_names(kind):
        if name not in held:
            raise _missing(inside(part, name))
        kinds.get(name, Plain()).check(held[name], inside(part, name), {})


def _require_unfitted(model: Any, part: str) -> None:
    _require_parameters(model, part)
    kinds = declared(type(model))
    for name, value in _held(model).items():
        if name in kinds and not kinds[name].may_miss:
            raise _missing(inside(part, "embedding_"))
        if name in kinds:
            kinds[name].check(value, inside(part, name), {})


def _check_inner(value: Any, part: str, sizes: Sizes, names: dict[str, str]) -> None:
    inner = {own: sizes[ours] for own, ours in names.items() if ours in sizes}
    require_state(value, part, inner)
    for own, ours in names.items():
        if own in inner:
            note(ours, inner[own], part, sizes)


def _held(value: Any) -> dict[str, Any]:
    """What a model or a value holds, by name; a slot that nothing was put in is left out."""
    if is_dataclass(value):
        names = (field.name for field in fields(value))
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    state: dict[str, Any] = value.__getstate__()
    return state


def _parameter_names(model: Any) -> list[str]:
    names: list[str] = model._get_param_names()
    return names


def inside(part: str, name: str) -> str:
    """The name of a part of a part."""
    return f"{part}.{name}" if part else name


def _missing(part: str) -> StateError:
    return StateError(part, "is missing", missing=True)
