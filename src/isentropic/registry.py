"""Every family and every method: what is said of them anywhere derives from here.

The folder of a family, ``methods/FAMILY/``, has one line for each of its methods. Public names, presets, the
command line, the report, the docs and the contract tests derive from these lines. Other packages add methods
through the entry-point group ``isentropic.methods``: each entry point names a :class:`Method`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from ._core.errors import InvalidInputError, IsentropicWarning, nearest, require_extra, require_one_of
from .methods import distance, geodesic, lattice, linear, local, meta, neighbor, neural, spectral
from .methods.method import FAMILIES, Family, Method, family_of

__all__ = ["FAMILIES", "METHODS", "Family", "Method", "family_of", "make", "methods_table"]

# Methods are listed, compared and tested by the family of their maps, in this order; within a family by these
# folders, and within a folder as its lines stand. A method of the third table follows a relative instead.
_READ_AS = (
    "linear", "spectral", "stress", "short-range", "geodesic", "pairs", "neighbours", "lattice", "neural",
    "wrapper",
)  # fmt: skip
_FOLDERS = (linear, local, spectral, distance, geodesic, neighbor, lattice, neural, meta)
_FOLLOWS = {
    "lpp": "pca",
    "npe": "lpp",
    "linear-ltsa": "npe",
    "can-lpp": "linear-ltsa",
    "pnn-lpp": "can-lpp",
    "kernel-lpp": "kernel-pca",
    "mvu": "kde-isomap",
}


def _built_in() -> tuple[Method, ...]:
    """The lines of all folders, in the order of the tables above."""
    lines = [line for folder in _FOLDERS for line in folder.METHODS]
    lines.sort(key=lambda line: _READ_AS.index(line.family))
    for name, relative in _FOLLOWS.items():
        names = [line.name for line in lines]
        moved = lines.pop(names.index(name))
        names.remove(name)
        lines.insert(names.index(relative) + 1, moved)
    return tuple(lines)


BUILT_IN = _built_in()


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
