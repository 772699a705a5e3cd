"""``-p key=value``: words and numbers from the command line as the values that a method takes.

``neighbors=radius:0.5`` and ``neighbors=knn:15,approximate=false`` name a choice of a stage, its
first field, and any other fields; ``degrees=1,2`` is several numbers.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.errors import InvalidInputError, message, require, require_one_of

_WORDS = {"true": True, "false": False, "none": None}
_STAGE = re.compile(r"(?P<name>[A-Za-z_]\w*):(?P<fields>.*\d.*)")


def parse_parameters(items: Iterable[str]) -> dict[str, Any]:
    """``["k=3", "metric=cityblock"]`` as ``{"k": 3, "metric": "cityblock"}``."""
    parameters: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        require(bool(name and equals), "-p", "key=value", item, "For instance: -p n_neighbors=15.")
        require(name not in parameters, "-p", f"given once for {name}", item)
        parameters[name] = _stage(name, text) if _STAGE.fullmatch(text) else parse_value(text)
    return parameters


def parse_value(text: str) -> Any:
    """``true``, ``false`` and ``none``, integers, floats, several of them; anything else is text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    numbers = [parse_value(part) for part in text.split(",")] if "," in text else []
    if numbers and all(type(number) in (int, float) for number in numbers):
        return tuple(numbers)
    return text


def _stage(parameter: str, text: str) -> Any:
    from ..._core.values import STAGES

    name, _, fields = text.partition(":")
    require_one_of(parameter, name, STAGES, "For instance: radius:0.5 or knn:15,approximate=false.")
    choice = STAGES[name]
    known = [field.name for field in dataclasses.fields(choice)]
    values = {}
    for position, item in enumerate(fields.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            key, value = known[0], item
            if position > 0:
                raise InvalidInputError(message(parameter, "name:first,field=value", text))
        require_one_of(f"field of {name}", key, known)
        values[key] = parse_value(value)
    for field in dataclasses.fields(choice):
        if field.default is dataclasses.MISSING and field.name not in values:
            raise InvalidInputError(f"{parameter}={text} needs a value for {field.name}: {name}:VALUE.")
    return choice(**values)


def with_seed_and_jobs(
    parameters: Mapping[str, Any], estimator: type, seed: int | None, jobs: int | None
) -> dict[str, Any]:
    """Add ``random_state`` and ``n_jobs`` where the method has them."""
    accepted = inspect.signature(estimator).parameters
    merged = dict(parameters)
    for option, name, value in (("--seed", "random_state", seed), ("--jobs", "n_jobs", jobs)):
        if value is None or name not in accepted:
            continue
        require(name not in merged, option, f"left out where -p {name} is given", value)
        merged[name] = value
    return merged
