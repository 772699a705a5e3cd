"""What JSON must hold before it becomes a value of ours: small checks that compose, and name what fails.

>>> require_fields({"k": 3, "name": 7}, {"k": is_count, "name": is_text})
Traceback (most recent call last):
ValueError: its field 'name' does not hold what it should
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]


def require_fields(data: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    """Raise ValueError unless the fields are these, each as its check wants it."""
    strange = sorted(set(data) ^ set(checks))
    if strange:
        raise ValueError(f"its field {strange[0]!r} is {'missing' if strange[0] in checks else 'not known'}")
    for name, check in checks.items():
        if not check(data[name]):
            raise ValueError(f"its field {name!r} does not hold what it should")


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """A finite one that an array holds; truth values are none."""
    return math.isfinite(value) if type(value) is float else _is_short(value)


def is_count(value: Any) -> bool:
    return _is_short(value) and value >= 0


def _is_short(value: Any) -> bool:
    """A whole number of 64 bits: JSON has any."""
    return type(value) is int and -(2**63) <= value < 2**63


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_named(value: Any) -> bool:
    """Anything with names."""
    return isinstance(value, dict)


def maybe(check: Check) -> Check:
    """Or null."""
    return lambda value: value is None or check(value)


def several(check: Check, count: int | None = None) -> Check:
    """A list, of ``count`` entries where it is given."""
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(check, value))


def named(check: Check) -> Check:
    """Entries by name."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def record(**checks: Check) -> Check:
    """Exactly these fields."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or set(value) != set(checks):
            return False
        return all(check(value[name]) for name, check in checks.items())

    return fits
