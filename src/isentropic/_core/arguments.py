"""Arguments of public functions: arrays of numbers, positions of rows, graphs, checked in ``O(n)``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .errors import (
    InvalidInputError,
    message,
    require,
    require_count,
    require_flag,
    require_number,
    require_one_of,
)
from .sparse_rows import is_sparse
from .specs import FieldSpec, Sizes
from .state import Plain, StateError, Value, parameter_specs
from .values import Floats, Integers, NeighborGraph, Neighbors

_FILL = "Fill in or leave out those rows."
FILL_OR_GOWER = "Fill in or leave out those rows, or take metric='gower' for missing values."
_UNMASK = "Fill them (X.filled(...), or datasets.load(pandas.DataFrame(X), missing='median').X)."
_DIMENSIONS = {1: "a list of numbers", 2: "a table with rows and columns"}


def unmasked(name: str, value: Any, *, holes: bool = False) -> Any:
    """``value`` without the mask of ``numpy.ma``: masked values are missing, NaN where ``holes`` are taken.

    >>> import numpy as np
    >>> unmasked("X", np.ma.array([1.0, 2.0], mask=[False, True]), holes=True).tolist()
    [1.0, nan]
    """
    if isinstance(value, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in value):
        value = np.ma.stack(value)
    if not isinstance(value, np.ma.MaskedArray):
        return value
    count = int(np.ma.count_masked(value))
    if count == 0:
        return np.asarray(value.data)
    require(holes, name, "without masked values", f"{count} of {value.size} masked", _UNMASK)
    kind = object if value.dtype.kind == "O" else np.float64
    return np.ma.filled(value.astype(kind), np.nan)


def as_numbers(
    name: str, value: Any, ndim: int | None = 2, *, holes: bool = False, infinite: bool = False,
    least: float | None = None, hint: str = _FILL,
) -> Floats:  # fmt: skip
    """``value`` as contiguous doubles, finite unless said otherwise; text, dates and complex ones are none.

    ``ndim`` of None is any. Whole numbers, flags and half precision become doubles before any computation.

    >>> as_numbers("X", [[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    value = unmasked(name, value, holes=holes)
    dense = not is_sparse(value)
    require(
        dense,
        name,
        "a dense array",
        f"a sparse one of shape {getattr(value, 'shape', '')}",
        "Give X.toarray().",
    )
    must_be = "an array of real numbers"
    try:
        array = np.asarray(value)
        known = array.dtype.kind in "fiubO"
        array = np.asarray(array, dtype=np.float64, order="C") if known else array
    except (TypeError, ValueError) as error:
        raise InvalidInputError(message(name, must_be, type(value).__name__, f"{error}.")) from error
    require(known, name, must_be, f"{array.dtype} values", "Convert or leave out what is no number.")
    if ndim is not None:
        reshape = "Use reshape(-1, 1) for a single column." if ndim == 2 else ""
        require(array.ndim == ndim, name, _DIMENSIONS[ndim], array.shape, reshape)
    smallest, largest = float(array.min(initial=0.0)), float(array.max(initial=0.0))  # NaN if any entry is
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        count = int(np.count_nonzero((np.isnan(array) & (not holes)) | (np.isinf(array) & (not infinite))))
        require(count == 0, name, "finite everywhere", f"{count} entries that are not", hint)
    require(least is None or not smallest < least, name, f"at least {least} everywhere", smallest)
    return array


def as_positions(name: str, value: Any, n: int, ndim: int = 1) -> Integers:
    """``value`` as whole numbers of rows, from 0 to below ``n``."""
    array = np.asarray(unmasked(name, value))
    if array.size == 0 and array.ndim == ndim:
        array = array.astype(np.int64)  # an empty list, which numpy takes for doubles
    whole = array.ndim == ndim and array.dtype.kind in "iu"
    kind = "positions of rows" if ndim == 1 else "lists of positions of rows, (n, k)"
    require(whole, name, kind, f"{array.dtype} of shape {array.shape}")
    if array.size:
        first, last = int(array.min()), int(array.max())
        require(0 <= first and last < n, name, f"positions from 0 to {n - 1}", f"{first} to {last}")
    return array.astype(np.int64, copy=False)


def require_graph(graph: Any, name: str = "graph", *, distances: bool = False) -> NeighborGraph:
    """A sound :class:`NeighborGraph`; of ``distances``, if paths are to add them up."""
    _require_value(graph, NeighborGraph, name, "isentropic.neighbor_graph(X, 10) makes one.")
    must_be = "of kind knn, radius or percentile: paths add distances"
    require(not distances or graph.is_distance, name, must_be, graph.kind)
    return graph


def require_neighbors(found: Any, name: str = "neighbors") -> Neighbors:
    """Sound lists of neighbours."""
    _require_value(found, Neighbors, name, "isentropic.nearest_neighbors(X, Knn(k)) makes such lists.")
    return found


def require_kind(name: str, value: Any, kind: type, hint: str = "") -> None:
    """Raise unless it is a value of this class."""
    require(isinstance(value, kind), name, f"a {kind.__name__}", type(value).__name__, hint)


def _require_value(value: Any, kind: type, name: str, hint: str) -> None:
    require_kind(name, value, kind, hint)
    try:
        Value(kind).check(value, name, Sizes())
    except StateError as error:
        raise InvalidInputError(f"{error} {hint}") from error


# ---- Constructor parameters, with their specs ----------------------------------------------------
#
# A spec stands in the annotation of a parameter, ``max_iter: Annotated[int, Count("a number of steps",
# least=0)]``. ``accept`` returns the value as the algorithms take it, or raises :class:`InvalidInputError`. A
# parameter without a spec is checked by the stage that reads it. Loading checks parameters by the same specs.


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
    """One of several words."""

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
