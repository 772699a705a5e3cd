"""Specs of constructor parameters: checked before a fit begins, with the message that a user needs.

A spec stands in the annotation of a parameter, ``max_iter: Annotated[int, Count("a number of steps",
least=0)]``. ``accept`` returns the value as the algorithms take it, or raises :class:`InvalidInputError`. A
parameter without a spec is checked by the stage that reads it. Loading checks parameters by the same specs.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .errors import InvalidInputError, require_count, require_flag, require_number, require_one_of
from .specs import FieldSpec, Sizes, StateError
from .state import Plain, parameter_specs


class Parameter(FieldSpec):
    """What a parameter must be; ``optional`` ones may be None."""

    optional = False

    def accept(self, name: str, value: Any) -> Any:
        """``value`` as a plain Python value; raises where it is none of these."""
        return None if value is None and self.optional else self._accepted(name, value)

    def _accepted(self, name: str, value: Any) -> Any:
        raise NotImplementedError

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        Plain().check(value, part, sizes)
        try:
            self.accept(part, value)
        except InvalidInputError as error:
            raise StateError(part, f"is refused ({error})") from error


class Count(Parameter):
    """A whole number, as :func:`require_count` takes it."""

    def __init__(self, must_be: str = "", *, optional: bool = False, **options: Any):
        self.must_be, self.optional, self.options = must_be, optional, options

    def _accepted(self, name: str, value: Any) -> int:
        return require_count(name, value, self.must_be, **self.options)


class Real(Parameter):
    """A number, as :func:`require_number` takes it."""

    def __init__(self, must_be: str, *, optional: bool = False, **options: Any):
        self.must_be, self.optional, self.options = must_be, optional, options

    def _accepted(self, name: str, value: Any) -> float:
        return require_number(name, value, self.must_be, **self.options)


class Choice(Parameter):
    """One of some words."""

    def __init__(self, *options: str, optional: bool = False, hint: str = ""):
        self.options, self.optional, self.hint = options, optional, hint

    def _accepted(self, name: str, value: Any) -> str:
        require_one_of(name, value, self.options, self.hint)
        return str(value)


class Switch(Parameter):
    """True or False."""

    def _accepted(self, name: str, value: Any) -> bool:
        require_flag(name, value)
        return bool(value)


def checked_parameters(estimator: Any) -> SimpleNamespace:
    """The parameters of an estimator by name, those with a spec checked, in the order of the constructor."""
    specs, values = parameter_specs(type(estimator)), estimator.get_params(deep=False)
    names = estimator._get_param_names()  # sorted: the first wrong one of the signature is told first
    order = [*specs, *(name for name in names if name not in specs)]
    return SimpleNamespace(**{
        name: spec.accept(name, values[name]) if isinstance(spec := specs.get(name), Parameter) else
        values[name] for name in order
    })  # fmt: skip
