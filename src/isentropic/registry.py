"""Every family and every method, one line each: what is said of them anywhere derives from here.

Public names, presets, the command line, the report, the docs and the contract tests do. Third parties add
methods through the entry-point group ``isentropic.methods``: each entry point names a :class:`Method`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from ._core.errors import InvalidInputError, IsentropicWarning, nearest, require_extra, require_one_of
from .catalogue import BUILT_IN, FAMILIES, Family, Method, family_of

__all__ = ["FAMILIES", "METHODS", "Family", "Method", "family_of", "make", "methods_table"]


def _by_name(methods: tuple[Method, ...]) -> Mapping[str, Method]:
    return MappingProxyType({method.name: method for method in methods})


def _installed() -> tuple[Method, ...]:
    """Methods of other packages; one that cannot be loaded, or takes a name of ours, is left out."""
    methods: list[Method] = []
    for point in entry_points(group="isentropic.methods"):
        try:
            method = point.load()
        except Exception as error:  # whatever a foreign module raises must not break ours
            problem = f"it cannot be loaded ({error})"
        else:
            taken = {known.name for known in (*BUILT_IN, *methods)}
            problem = "its name is taken" if method.name in taken else ""
            methods += [] if problem else [method]
        if problem:
            warnings.warn(f"Method {point.value!r} is left out: {problem}.", IsentropicWarning, stacklevel=2)
    return tuple(methods)


METHODS: Mapping[str, Method] = _by_name(BUILT_IN + _installed())


def make(name: str, **params: Any) -> Any:
    """Build the estimator that the registry knows as ``name``.

    >>> from isentropic import make
    >>> make("landmark-isomap", n_components=3)
    Isomap(n_components=3, n_landmarks=500)
    """
    require_one_of("method", name, METHODS)
    method = METHODS[name]
    if method.extra:
        require_extra(method.extra, name)
    estimator = method.load()
    accepted = [p for p in inspect.signature(estimator).parameters if p != "self"]
    for parameter in params:
        if parameter not in accepted:
            raise InvalidInputError(
                f"{name} has no parameter {parameter!r}. {nearest(parameter, accepted)}"
                f"It takes {', '.join(accepted)}."
            )
    return estimator(**{**method.params, **params})


def methods_table() -> str:
    """The registry as a table in Markdown, for docs/methods.md."""
    lines = [
        "| method | family | what it does | new rows | time; memory |",
        "| --- | --- | --- | --- | --- |",
    ]
    for method in METHODS.values():
        cells = (f"`{method.name}`", method.family, method.summary, method.out_of_sample, method.cost)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
