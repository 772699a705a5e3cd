"""What a fitted model may hold: declared once by its class, and checked by one function.

A class says it in its annotations, ``mean_: Annotated[np.ndarray, Array("m")]``: estimators of what ``fit``
sets, :class:`~isentropic.embedding.Part` and values of their fields, constructors of their parameters.
Arrays have sizes with names, which must agree wherever they appear: ``n`` rows, ``m`` features, ``d``
coordinates, and what else a method counts. What a class declares adds to what its bases do.

Kernels follow indices without looking at bounds, so nothing that comes from a file reaches one unchecked.
What a spec cannot say, a relation between two fields, is for ``_require_sound`` of the class.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from inspect import get_annotations, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from .specs import (
    Absent,
    Array,
    Checked,
    Dict,
    Double,
    Each,
    FieldSpec,
    Flag,
    Maybe,
    Names,
    Number,
    OneOf,
    Size,
    Sizes,
    Starts,
    StateError,
    Text,
    Tuple,
    Whole,
    note,
    wrong,
)

__all__ = [
    "Absent", "Array", "Checked", "Dict", "Double", "Each", "FieldSpec", "Flag", "Maybe", "Model", "Names",
    "Number", "OneOf", "Plain", "Size", "Starts", "StateError", "Sub", "Text", "Tuple", "Value", "Whole",
    "attributes", "defaults", "estimator_name", "estimator_named", "field_specs", "inside", "is_fitted",
    "is_model", "parameter_specs", "require_state",
]  # fmt: skip


# ---- specs in annotations ----------------------------------------------------------------------


def field_specs(kind: Any) -> dict[str, FieldSpec]:
    """The specs of a class, by the names of its fields: those of its bases first."""
    return _field_specs(kind)


def parameter_specs(kind: Any) -> dict[str, FieldSpec]:
    """The specs of the parameters of a constructor that has some."""
    return _parameter_specs(kind)


@cache
def _field_specs(kind: Any) -> dict[str, FieldSpec]:
    found: dict[str, FieldSpec] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] not in ("sklearn", "builtins") and (
            own := get_annotations(base)
        ):
            hints = get_type_hints(base, include_extras=True)
            found.update(_specs_of({name: hints[name] for name in own}))
    return found


@cache
def _parameter_specs(kind: Any) -> dict[str, FieldSpec]:
    return _specs_of(get_type_hints(kind.__init__, include_extras=True))


def _specs_of(hints: dict[str, Any]) -> dict[str, FieldSpec]:
    found = {name: [a for a in get_args(hint)[1:] if isinstance(a, FieldSpec)]
             for name, hint in hints.items() if get_origin(hint) is Annotated}  # fmt: skip
    return {name: specs[0] for name, specs in found.items() if specs}


# ---- parts that declare their own --------------------------------------------------------------

_DEEPEST = 8  # models within models


class Value(FieldSpec):
    """A value of exactly this class; ``n="rows"`` says that its size n is our size rows."""

    def __init__(self, kind: type, **names: str):
        self.kind, self.names = kind, names

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not self.kind:
            raise wrong(part, f"a {self.kind.__name__}", value)
        _check_inner(value, part, sizes, self.names)


class Sub(FieldSpec):
    """A part of exactly one of these classes. Its sizes are ours: a name is one size through all parts."""

    def __init__(self, *kinds: type):
        self.kinds = kinds

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) not in self.kinds:
            raise wrong(part, f"a {' or '.join(kind.__name__ for kind in self.kinds)}", value)
        if id(value) not in sizes.seen:  # parts share parts
            sizes.seen.add(id(value))
            _check_fields(value, part, sizes)


class Model(FieldSpec):
    """An estimator that declares its state: a fitted one, or (``fitted=False``) any."""

    def __init__(self, *, fitted: bool = True, **names: str):
        self.fitted, self.names = fitted, names

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if not is_model(type(value)):
            raise wrong(part, "a method of isentropic", value)
        if sizes.models >= _DEEPEST:
            raise StateError(part, f"must not be a model in more than {_DEEPEST} others")
        around = sizes.inside(sizes)
        around.models += 1
        if self.fitted or is_fitted(value):
            _check_inner(value, part, around, self.names)
            sizes.update(around)
        else:
            _require_unfitted(value, part, around)


class Plain(FieldSpec):
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
            _check_inner(value, part, sizes, {})
        else:
            raise wrong(part, "a plain value", value)


# ---- the check ---------------------------------------------------------------------------------


def declares(kind: type) -> bool:
    """Whether a class declares what its objects hold."""
    return isinstance(kind, type) and bool(field_specs(kind))


@cache
def _registered() -> dict[str, str]:
    """The class of each method of the registry, ``module:Class``, by the name of the method."""
    lines = import_module("isentropic.registry").METHODS.values()
    return {line.name: line.target for line in lines} | {
        "selected": "isentropic.methods.meta.selected:Selected"
    }


def estimator_named(name: str) -> type | None:
    """The class of the method that the registry knows by this name; None where it knows none."""
    module, _, kind = _registered().get(name, "").partition(":")
    return getattr(import_module(module), kind) if module else None


def estimator_name(kind: type) -> str:
    """The first name that the registry has for a class of estimators; empty where it has none."""
    target = f"{kind.__module__}:{kind.__name__}"
    return next((name for name, known in _registered().items() if known == target), "")


def is_model(kind: type) -> bool:
    """Whether a class is an estimator of the registry: another would not load again."""
    return declares(kind) and bool(estimator_name(kind))


def is_fitted(model: Any) -> bool:
    return "embedding_" in vars(model)


def attributes(model: type) -> set[str]:
    """The names that an estimator may hold, its parameters included."""
    return {*field_specs(model), *_parameter_names(model)}


def defaults(model: type) -> dict[str, Any]:
    """What the constructor takes for parameters that are not given."""
    parameters = signature(model).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def require_state(value: Any, part: str = "", sizes: Sizes | None = None) -> None:
    """Raise :class:`StateError` unless a model, or a value, is all that its class declares."""
    sizes = Sizes() if sizes is None else sizes
    if is_model(type(value)):
        _require_parameters(value, part, sizes)
    _check_fields(value, part, sizes)
    sizes.finish()


def _check_fields(value: Any, part: str, sizes: Sizes) -> None:
    held, specs = _held(value), field_specs(type(value))
    if is_dataclass(value) and (unknown := held.keys() - specs.keys()):
        raise StateError(inside(part, min(unknown)), "has no spec")  # nothing unchecked reaches a kernel
    for name, spec in specs.items():
        if name in held:
            spec.check(held[name], inside(part, name), sizes)
        elif not spec.may_miss:
            raise _missing(inside(part, name))
    if hasattr(type(value), "_require_sound"):
        sizes.relations.append(partial(_check_relations, value, part))


def _check_relations(value: Any, part: str) -> None:
    try:
        type(value)._require_sound(value)
    except StateError as error:
        raise StateError(inside(part, error.part), error.problem) from None


def _require_parameters(model: Any, part: str, sizes: Sizes) -> None:
    held, kind = _held(model), type(model)
    specs = parameter_specs(kind)
    for name in sorted(set(held) - attributes(kind)):
        raise StateError(inside(part, name), f"is no attribute of {kind.__name__}")
    for name in _parameter_names(kind):
        if name not in held:
            raise _missing(inside(part, name))
        specs.get(name, Plain()).check(held[name], inside(part, name), sizes.inside())


def _require_unfitted(model: Any, part: str, sizes: Sizes) -> None:
    _require_parameters(model, part, sizes)
    specs = field_specs(type(model))
    for name, value in _held(model).items():
        if name in specs and not specs[name].may_miss:
            raise _missing(inside(part, "embedding_"))
        if name in specs:
            specs[name].check(value, inside(part, name), sizes.inside())


def _check_inner(value: Any, part: str, sizes: Sizes, names: dict[str, str]) -> None:
    """Check a part that has sizes of its own: once for the same sizes, however many fields name it."""
    known = {own: sizes[ours] for own, ours in names.items() if ours in sizes}
    key = (id(value), *known.items(), sizes.models)
    if key not in sizes.found:
        inner = sizes.inside(known)
        require_state(value, part, inner)
        sizes.found[key] = inner
    inner = sizes.found[key]
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
