"""``Candidate``: a method to compare, by name, estimator or function, checked before anything is fitted."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from ... import registry
from ..._core.errors import message, require, require_one_of
from ...distances import is_gower
from ...selection import embedding_of, embeds

_ACCEPTED = "parameters of a method, an object with fit_transform(X) or fit(X), or a function of X"
_BY_COLUMNS = "Leave it out, or compare by metric='euclidean'."
Methods = Iterable[str] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One method to compare: how it is made, and what the registry knows of it."""

    label: str
    make: Callable[..., Any] | None  # parameters -> estimator; None for a function
    function: Callable[..., Any] | None = None  # X -> map
    params: Mapping[str, Any] = field(default_factory=dict)  # that differ from the defaults
    needs_y: bool = False
    draws_above: int | None = None  # rows beyond which another seed gives another map; None: never
    max_rows: int | None = None
    kind: str = ""  # the class, as two may be given under one label
    foreign: bool = False  # not of the registry: it may write into what it is given
    refusal: str = ""  # why it cannot be fitted, where that is known beforehand

    @property
    def repeatable(self) -> bool:
        """Whether its parameters say what it computes: a function may compute anything."""
        return self.function is None

    def with_metric(self, metric: Any) -> Candidate:
        """The same method on rows that are compared by a non-Euclidean metric."""
        make = self.make
        if make is None:
            return self
        if "metric" not in self.defaults():
            must_be = "the Euclidean metric, since it works on columns of numbers"
            return replace(self, refusal=message(self.label, f"given {must_be}", metric, _BY_COLUMNS))
        return replace(
            self,
            make=partial(_make_by_metric, make, metric),
            params={**self.params, "metric": metric},
        )

    def draws(self, n_rows: int) -> bool:
        """Whether another seed may give another map of so many rows."""
        return self.draws_above is not None and n_rows > self.draws_above

    def defaults(self) -> dict[str, Any]:
        """All parameters with their values."""
        return {} if self.make is None else dict(self.make().get_params(deep=False))

    def embed(self, model: Any, X: Any, y: Any) -> Any:
        """The map of X by the function, or by the estimator, which gets y where it learns from it."""
        if self.foreign:
            X, y = X.copy(), copy.copy(y)
        if self.function is not None:
            return self.function(X)
        return embedding_of(model, X, y if self.needs_y else None)

    def estimator(self, params: Mapping[str, Any], seed: int, n_jobs: int | None) -> Any:
        """The estimator with these parameters, and the seed and threads where it takes them.

        Without a number of threads it keeps its own: those of other libraries need not know None.
        """
        assert self.make is not None
        accepted = self.defaults()
        threads = {} if n_jobs is None else {"n_jobs": n_jobs}
        given = {"random_state": seed, **threads, **params}
        return self.make(
            **{name: value for name, value in given.items() if name in accepted or name in params}
        )


def as_candidates(methods: Methods) -> tuple[Candidate, ...]:
    """Candidates from names of the registry, names with parameters, or labels with estimators or functions.

    >>> [candidate.label for candidate in as_candidates(["pca", "isomap"])]
    ['pca', 'isomap']
    """
    require(not isinstance(methods, str), "methods", "a list of names", methods, f"Say [{methods!r}].")
    if isinstance(methods, Mapping):
        candidates = tuple(_candidate(str(label), given) for label, given in methods.items())
    else:
        names = list(dict.fromkeys(methods))  # a name twice is compared once
        candidates = tuple(_candidate(name, {}) for name in names)
    require(bool(candidates), "methods", "at least one", methods)
    return candidates


def _candidate(label: str, given: Any) -> Candidate:
    if isinstance(given, Mapping):
        require_one_of("method", label, registry.METHODS)
        method = registry.METHODS[label]
        return Candidate(
            label,
            make=partial(_make_by_name, label, dict(given)),
            params={**method.params, **given},
            needs_y=method.needs_y,
            draws_above=_draws_above((method,), changed=bool(given)),
            max_rows=method.max_rows,
            kind=method.target,
        )
    name, is_class = f"methods[{label!r}]", isinstance(given, type)
    require(not is_class, name, _ACCEPTED, given, f"Give an instance: {getattr(given, '__name__', '')}().")
    if embeds(given) and _can_be_cloned(given):
        return Candidate(
            label,
            make=partial(_make_by_copy, given),
            params=_changed_params(given),
            needs_y=_learns_from_y(given),
            draws_above=_estimator_draws_above(given),
            kind=_target(given),
            foreign=not _target(given).startswith("isentropic."),
        )
    require(embeds(given) or callable(given), name, _ACCEPTED, given)
    function = partial(_embedding_by_copy, given) if embeds(given) else given
    return Candidate(label, make=None, function=function, foreign=True)


# Functions of the module, so that a candidate can be sent to another process.


def _make_by_name(_name: str, _given: Mapping[str, Any], **params: Any) -> Any:
    return registry.make(_name, **{**_given, **params})


def _make_by_copy(_estimator: Any, **params: Any) -> Any:
    return clone(_estimator).set_params(**params)


def _make_by_metric(_make: Callable[..., Any], _metric: Any, **params: Any) -> Any:
    return _make(**{"metric": _metric, **params})


def _can_be_cloned(estimator: Any) -> bool:
    """Whether scikit-learn can make another one of the same parameters, and set others."""
    with suppress(Exception):  # whatever its own methods raise
        clone(estimator).set_params().get_params(deep=False)
        return True
    return False


def _embedding_by_copy(estimator: Any, X: Any) -> Any:
    """Embed with a copy of an object without parameters; one that cannot be copied is fitted itself."""
    with suppress(Exception):
        estimator = copy.deepcopy(estimator)
    return embedding_of(estimator, X)


def _changed_params(estimator: Any) -> dict[str, Any]:
    """Parameters that differ from the defaults of the class."""
    defaults = {p.name: p.default for p in inspect.signature(type(estimator)).parameters.values()}
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if repr(value) != repr(defaults.get(name))}


def _learns_from_y(estimator: Any) -> bool:
    """Whether the estimator's tags say that it needs y, as in scikit-learn."""
    return hasattr(estimator, "__sklearn_tags__") and bool(get_tags(estimator).target_tags.required)


def _target(estimator: Any) -> str:
    """Module and class, as the registry writes them: a bare name may belong to another package."""
    return f"{type(estimator).__module__}:{type(estimator).__qualname__}"


def _estimator_draws_above(estimator: Any) -> int | None:
    known = tuple(m for m in registry.METHODS.values() if m.target == _target(estimator))
    if known:
        return _draws_above(known, changed=bool(_changed_params(estimator)))
    return 0 if "random_state" in estimator.get_params(deep=False) else None


def _draws_above(lines: tuple[registry.Method, ...], *, changed: bool) -> int | None:
    """Rows above which a class is random; with changed parameters it may be so for any number of rows."""
    sizes = [line.draws_above for line in lines if line.draws_above is not None]
    if not sizes:
        return None
    return 0 if changed else min(sizes)


def parameters_text(params: Mapping[str, Any]) -> str:
    """Parameters as text, for progress messages."""
    return ", ".join(f"{name} = {value}" for name, value in params.items())


def json_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON values; others by their repr."""
    known = (bool, int, float, str, type(None))
    return {
        name: value if isinstance(value, known) else "gower" if is_gower(value) else repr(value)
        for name, value in params.items()
        if name not in ("random_state", "n_jobs")
    }
