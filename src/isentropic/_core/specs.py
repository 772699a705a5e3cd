"""Field specs: what a field of a fitted model must be, a number, a word, an array of certain sizes.

A spec stands in the annotation of a field, ``Annotated[np.ndarray, Array("n", "d")]``. Checks before saving,
after loading and before kernels derive from it. Sizes have names, and a size is the same wherever its name
appears.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, isfinite, isinf, isnan
from typing import Any

import numpy as np


class Sizes(dict[str, int]):
    """Sizes by name, as they are met.

    Bounds by a size that is not met yet wait in ``later``, relations between fields in ``relations``;
    ``seen`` are objects that were checked already. ``found`` is what checks found of objects that a file may
    name a thousand times; ``models`` counts the models around this part.
    """

    def __init__(self, *args: Any, **sizes: int):
        super().__init__(*args, **sizes)
        self.later: list[Callable[[], None]] = []
        self.relations: list[Callable[[], None]] = []
        self.seen: set[int] = set()
        self.found: dict[Any, Any] = {}  # by the identity of an object that the model holds
        self.models = 0

    def inside(self, known: Mapping[str, int] | None = None) -> Sizes:
        """Sizes of a part that has names of its own, some of them ``known``."""
        inner = Sizes(known or {})
        inner.found, inner.models = self.found, self.models
        return inner

    def finish(self) -> None:
        """Check what waited for a size, then what relates fields that are sound each."""
        for check in (*self.later, *self.relations):
            check()


class StateError(ValueError):
    """A part of a model is not what its class declares; the text begins with the name of the part."""

    def __init__(self, part: str, problem: str, *, missing: bool = False):
        super().__init__(f"its {part} {problem}" if part else f"it {problem}")
        self.part, self.problem = part, problem
        self.missing = missing  # as in a file of another version


class FieldSpec:
    """What a part must be. ``may_miss``: the attribute may be absent, or None."""

    may_miss = False

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        """Raise :class:`StateError` unless ``value`` is of this kind; sizes met first are noted."""
        raise NotImplementedError


# ---- numbers and words -------------------------------------------------------------------------


class _Range:
    """Bounds of numbers: at ``least``, ``above``, at ``most``, ``below`` a number or a size by its name."""

    def __init__(self, least=None, above=None, most=None, below: str | int | None = None):
        self.least, self.above, self.most, self.below = least, above, most, below

    def check(self, smallest: Any, largest: Any, part: str, sizes: Sizes) -> None:
        if self.least is not None and smallest < self.least:
            raise StateError(part, f"must be at least {self.least}, got {smallest}")
        if self.above is not None and smallest <= self.above:
            raise StateError(part, f"must be above {self.above}, got {smallest}")
        if self.most is not None and largest > self.most:
            raise StateError(part, f"must be at most {self.most}, got {largest}")
        if self.below is not None:
            if isinstance(self.below, str) and self.below.partition(" + ")[0] not in sizes:
                sizes.later.append(partial(self._check_end, largest, part, sizes))
            else:
                self._check_end(largest, part, sizes)

    def _check_end(self, largest: Any, part: str, sizes: Sizes) -> None:
        assert self.below is not None
        if largest >= (end := _size_of(self.below, sizes)):
            raise StateError(part, f"must be below {end}, got {largest}")


class Whole(FieldSpec):
    """A whole number."""

    def __init__(self, least: int | None = None, *, below: str | int | None = None, zero: bool = True):
        self.range, self.zero = _Range(least, below=below), zero

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not int and not isinstance(value, np.integer):
            raise wrong(part, "a whole number", value)
        if value == 0 and not self.zero:
            raise StateError(part, "must not be 0")
        self.range.check(value, value, part, sizes)


class Size(FieldSpec):
    """A positive whole number that other parts have as a size."""

    def __init__(self, name: str):
        self.name = name

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        Whole(1).check(value, part, sizes)
        note(self.name, int(value), part, sizes)


class Number(FieldSpec):
    """A finite number, or any where ``nan`` or ``infinite`` ones have a meaning."""

    def __init__(
        self,
        least: float | None = None,
        *,
        above: float | None = None,
        most: float | None = None,
        nan: bool = False,
        infinite: bool = False,
    ):
        self.range, self.nan, self.infinite = _Range(least, above, most), nan, infinite

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) not in (int, float) and not isinstance(value, np.integer | np.floating):
            raise wrong(part, "a number", value)
        if isinstance(value, int) and abs(value) >= 2**63:
            raise StateError(part, "must be a number that fits into 64 bits")
        if (isnan(value) and not self.nan) or (isinf(value) and not self.infinite):
            raise StateError(part, f"must be finite, got {value}")
        self.range.check(value, value, part, sizes)


class Double(Number):
    """A number in double precision: what kernels were compiled for."""

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if not isinstance(value, float):  # numpy's doubles are such too
            raise wrong(part, "a float", value)
        super().check(value, part, sizes)


class Flag(FieldSpec):
    """True or False."""

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not bool and type(value) is not np.bool_:
            raise wrong(part, "True or False", value)


class Text(FieldSpec):
    """A string, one of ``options`` if there are any."""

    def __init__(self, *options: str):
        self.options = options

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not str or (self.options and value not in self.options):
            raise wrong(part, f"one of {', '.join(self.options)}" if self.options else "a string", value)


class Checked(FieldSpec):
    """A string or a number that a function of the stage accepts: it raises ValueError for any other."""

    def __init__(self, accept: Callable[[Any], Any]):
        self.accept = accept

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not str:
            Number().check(value, part, sizes)
        try:
            self.accept(value)
        except ValueError as error:
            raise StateError(part, f"is refused ({error})") from error


# ---- arrays ------------------------------------------------------------------------------------


class Array(FieldSpec):
    """An array. Sizes are names, numbers, or None for any; ``"n + 1"`` is one more than n.

    Numbers are finite doubles unless ``dtype`` says otherwise, or NaN where ``holes`` are allowed; no size
    with a name is 0 unless ``empty``.
    """

    def __init__(
        self,
        *shape: str | int | None,
        dtype: Any = np.float64,
        least: float | None = None,
        above: float | None = None,
        below: str | int | None = None,
        within: float | None = None,
        empty: bool = False,
        holes: bool = False,
    ):
        least = -within if within is not None else least
        least = 0 if below is not None and least is None else least  # numbers of rows start at 0
        self.shape, self.dtype, self.empty, self.holes = shape, np.dtype(dtype), empty, holes
        self.range = _Range(least, above, within, below)

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.dtype != self.dtype or value.ndim != len(self.shape):
            raise wrong(part, f"an array of {self.dtype} with {len(self.shape)} axes", value)
        for wanted, length in zip(self.shape, value.shape, strict=True):
            if not isinstance(wanted, int) and length == 0 and not self.empty:
                raise StateError(part, f"have the shape {value.shape}: nothing is there")
            if wanted is not None:
                note(wanted, length, part, sizes)
        if (key := (id(value), self.holes)) not in sizes.found:
            sizes.found[key] = _extremes(value, self.holes)
        if (extremes := sizes.found[key]) is None:
            return
        smallest, largest = extremes
        if self.dtype.kind == "f":  # Python's, as bounds may be beyond single precision
            smallest, largest = float(smallest), float(largest)
        if self.dtype.kind == "f" and not (isfinite(smallest) and isfinite(largest)):
            raise StateError(part, "must be finite, but there are infinite or missing numbers")
        self.range.check(smallest, largest, part, sizes)


def _extremes(value: np.ndarray, holes: bool) -> tuple[Any, Any] | None:
    """The smallest and the largest number that are there; None where none is."""
    if value.size == 0:
        return None
    if not holes:
        return value.min(), value.max()
    smallest, largest = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)  # without a copy
    return None if isnan(smallest) else (smallest, largest)


class Starts(Array):
    """Where the lists of ``rows`` rows begin in one array of ``total`` entries, and the end: CSR."""

    def __init__(self, rows: str, total: str):
        super().__init__(f"{rows} + 1", dtype=np.int64)
        self.total = total

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        super().check(value, part, sizes)
        if value[0] != 0 or (value[1:] < value[:-1]).any():
            raise StateError(part, "must rise from 0")
        note(self.total, int(value[-1]), part, sizes)


class Names(FieldSpec):
    """An array of strings, as scikit-learn keeps the names of columns."""

    def __init__(self, size: str):
        self.size = size

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        is_list = type(value) is np.ndarray and value.dtype == object and value.ndim == 1
        if not is_list or not all(type(name) is str for name in value):
            raise wrong(part, "an array of strings", value)
        note(self.size, len(value), part, sizes)


# ---- specs made of specs -----------------------------------------------------------------------


class Maybe(FieldSpec):
    """None, or a part of another kind."""

    def __init__(self, kind: FieldSpec):
        self.kind = kind

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if value is not None:
            self.kind.check(value, part, sizes)


class Absent(Maybe):
    """As :class:`Maybe`, for what some fits do not set at all."""

    may_miss = True


class OneOf(FieldSpec):
    """Of any of these kinds."""

    def __init__(self, *kinds: FieldSpec):
        self.kinds = kinds

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        problem = None
        for kind in self.kinds:
            waiting = len(sizes.later), len(sizes.relations)
            try:
                return kind.check(value, part, sizes)
            except StateError as error:
                problem = error
                del sizes.later[waiting[0] :], sizes.relations[waiting[1] :]
        assert problem is not None
        raise problem


class Tuple(FieldSpec):
    """A tuple of these kinds, in order."""

    def __init__(self, *kinds: FieldSpec):
        self.kinds = kinds

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not tuple or len(value) != len(self.kinds):
            raise wrong(part, f"a tuple of {len(self.kinds)}", value)
        for i, (kind, item) in enumerate(zip(self.kinds, value, strict=True)):
            kind.check(item, f"{part}[{i}]", sizes)


class Each(FieldSpec):
    """A list or tuple whose items are all of one kind."""

    def __init__(self, kind: FieldSpec, container: type[list[Any]] | type[tuple[Any, ...]] = tuple):
        self.kind, self.container = kind, container

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not self.container:
            raise wrong(part, f"a {self.container.__name__}", value)
        for i, item in enumerate(value):
            self.kind.check(item, f"{part}[{i}]", sizes)


class Dict(FieldSpec):
    """A dictionary of keys and values of one kind each."""

    def __init__(self, keys: FieldSpec, values: FieldSpec):
        self.keys, self.values = keys, values

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise wrong(part, "a dictionary", value)
        for key, item in value.items():
            self.keys.check(key, f"key of {part}", sizes)
            self.values.check(item, f"{part}[{key!r}]", sizes)


# ---- sizes ---------------------------------------------------------------------------------------


def _size_of(size: str | int, sizes: Sizes) -> float:
    if isinstance(size, int):
        return size
    name, _, more = size.partition(" + ")
    return sizes.get(name, -inf) + int(more or 0)


def note(size: str | int, length: int, part: str, sizes: Sizes) -> None:
    """A size is what it was where it was met first."""
    if isinstance(size, str):
        name, _, more = size.partition(" + ")
        sizes.setdefault(name, length - int(more or 0))
    wanted = _size_of(size, sizes)
    if wanted != length:
        raise StateError(part, f"must have a size of {wanted:.0f}, got {length}")


def wrong(part: str, must_be: str, value: Any) -> StateError:
    if isinstance(value, np.ndarray):
        return StateError(part, f"must be {must_be}, got {value.dtype} of shape {value.shape}")
    text = repr(value) if value is None or type(value) in (bool, int, float, str) else type(value).__name__
    return StateError(part, f"must be {must_be}, got {text[:60]}")
