"""Model files: a zip of ``model.json`` and arrays as ``.npy`` members, nothing compressed, nothing that runs.

``model.json`` holds the format and the versions that wrote it, the name that the registry knows the method
by, what the caller adds, and the parts of the model in an order in which a part refers to earlier ones only.
A value is written as JSON where JSON has it, else as an object with one key: ``{"array": 3}`` for the member
``3.npy``, ``{"part": 0}``, ``{"tuple": [...]}``, and others. Arrays and parts that a model shares are written
once.

Which classes are built follows from the specs of the method: what they do not name is refused. Arrays are
measured against their member before anything is allocated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import signature
from io import BytesIO
from math import isfinite, prod
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from ..arguments import Parameter
from ..specs import Dict, Each, FieldSpec, Maybe, OneOf, StateError, Tuple
from ..state import (
    Model,
    Plain,
    Sub,
    Value,
    attributes,
    defaults,
    estimator_name,
    estimator_named,
    field_specs,
    inside,
    parameter_specs,
)
from ..values import STAGES, Neighbors

MEMBER = "model.json"
_SCALARS = ("bool", "float32", "float64", "int32", "int64")
_DATE = (1980, 1, 1, 0, 0, 0)  # of members: the same model gives the same bytes
_BLOCK = 2**20  # bytes
_DEEPEST = 32  # collections within collections
_PART, _ESTIMATOR = ("kind", "fields"), ("method", "parameters", "fitted")  # keys of their nodes


class UntrustedTypeError(ValueError):
    """A file asks for something that is no part of a model."""

    def __init__(self, name: str):
        super().__init__(f"it asks for {name}, which is not trusted")


# ---- which classes a model may hold ------------------------------------------------------------


@cache
def buildable(kind: type) -> dict[str, type]:
    """The classes of the parts and values that an estimator may hold, by name: those that its specs name."""
    found: dict[str, type] = {}
    waiting = [kind]
    while waiting:
        owner = waiting.pop()
        specs = [*field_specs(owner).values()]
        if owner is kind:
            parameters, names = parameter_specs(owner), signature(owner).parameters
            specs += [parameters.get(name, Plain()) for name in names]
        for named in (each for spec in specs for each in _classes(spec)):
            if found.setdefault(named.__name__, named) is not named:
                raise TypeError(f"{kind.__name__} may hold two classes called {named.__name__}")
            if named not in waiting and named is not owner:
                waiting.append(named)
    return found


def _classes(spec: FieldSpec) -> Iterator[type]:
    if isinstance(spec, Value):
        yield spec.kind
    elif isinstance(spec, Sub):
        yield from spec.kinds
    elif isinstance(spec, Plain | Parameter):
        yield from (*STAGES.values(), Neighbors)
    elif isinstance(spec, Maybe | Each):
        yield from _classes(spec.kind)
    elif isinstance(spec, OneOf | Tuple):
        for inner in spec.kinds:
            yield from _classes(inner)
    elif isinstance(spec, Dict):
        yield from (*_classes(spec.keys), *_classes(spec.values))


@cache
def _holds_models(kind: type) -> bool:
    specs = (*field_specs(kind).values(), *parameter_specs(kind).values())
    return any(isinstance(inner, Model) for spec in specs for inner in (spec, getattr(spec, "kind", None)))


# ---- writing -----------------------------------------------------------------------------------


class ModelWriter:
    """Writes one model."""

    def __init__(self, file: IO[bytes]):
        self._archive = ZipFile(file, "w", ZIP_STORED)
        self._parts: list[dict[str, Any]] = []
        self._written: dict[int, Any] = {}  # by the identity of an array or part
        self._alive: list[Any] = []  # what was written: no identity is used again

    def write(self, model: Any, header: dict[str, Any]) -> None:
        with self._archive:
            found = {**header, "model": self._estimator(model), "parts": self._parts}
            self._member(MEMBER, json.dumps(found, indent=1).encode())

    def _estimator(self, model: Any) -> dict[str, Any]:
        held, parameters = model.__getstate__(), model._get_param_names()
        return {
            "method": estimator_name(type(model)),
            "parameters": {name: self._value(held[name]) for name in parameters if name in held},
            "fitted": {
                name: self._value(held[name])
                for name in field_specs(type(model))
                if name in held and name not in parameters
            },
        }

    def _value(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if isfinite(value) else {"float": str(value)}
        if isinstance(value, np.generic):
            return {"scalar": [value.dtype.name, self._value(value.item())]}
        if type(value) in (list, tuple, set):
            return {type(value).__name__: [self._value(item) for item in value]}
        if type(value) is dict:
            return {"dict": [[self._value(key), self._value(item)] for key, item in value.items()]}
        if id(value) not in self._written:
            self._written[id(value)] = self._new(value)
            self._alive.append(value)
        return self._written[id(value)]

    def _new(self, value: Any) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if is_dataclass(value):
            content = {field.name: self._value(getattr(value, field.name)) for field in fields(value)}
            return self._part({"kind": type(value).__name__, "fields": content})
        return self._part(self._estimator(value))

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        self._parts.append(part)
        return {"part": len(self._parts) - 1}

    def _array(self, array: np.ndarray) -> dict[str, Any]:
        if array.dtype == object:  # names: the specs allow no other objects
            return {"names": array.tolist()}
        number, content = len(self._archive.namelist()), BytesIO()
        npy.write_array(content, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
        self._member(f"{number}.npy", content.getvalue())
        return {"array": number}

    def _member(self, name: str, content: bytes) -> None:
        self._archive.writestr(ZipInfo(name, _DATE), content)


# ---- reading -----------------------------------------------------------------------------------


class ModelReader:
    """Reads one model: builds what the specs of its method name, from values that are plain."""

    def __init__(self, archive: ZipFile, header: dict[str, Any]):
        self._archive, self._header = archive, header
        self._arrays: dict[int, np.ndarray] = {}
        self._parts: list[Any] = []
        self._classes: dict[str, type] = {}
        self._models = False

    def read(self) -> Any:
        root, parts = self._header["model"], self._header["parts"]
        if type(parts) is not list or not _has_keys(root, _ESTIMATOR):
            raise StateError(MEMBER, "must have a model, and its parts in a list")
        for number, part in enumerate(parts):
            if not (_has_keys(part, _PART) or _has_keys(part, _ESTIMATOR)):
                raise StateError(f"part {number}", "is neither a part nor a model")
        kind = self._method(root)
        self._classes, self._models = dict(buildable(kind)), _holds_models(kind)
        for inner in [part for part in parts if "method" in part] if self._models else []:
            self._classes.update(buildable(self._method(inner)))
        for number, part in enumerate(parts):
            self._parts.append(self._built(part, f"part {number}"))
        return self._estimator(root, kind, "")

    def _method(self, node: dict[str, Any]) -> type:
        name = node["method"]
        kind = estimator_named(name) if type(name) is str else None
        if kind is None:
            raise UntrustedTypeError(f"the method {str(name)[:60]}")
        return kind

    def _built(self, node: Any, part: str) -> Any:
        if "method" in node:
            if not self._models:
                raise StateError(part, "is a model, and this method holds none")
            return self._estimator(node, self._method(node), part)
        name = node["kind"]
        if type(name) is not str or name not in self._classes:
            raise UntrustedTypeError(str(name)[:60])
        kind, known = self._classes[name], {}
        for field in fields(kind):
            if field.name in node["fields"]:
                known[field.name] = self._value(node["fields"][field.name], inside(part, field.name))
            elif field.default is MISSING and field.default_factory is MISSING:
                raise StateError(inside(part, field.name), "is missing", missing=True)
        for name in node["fields"].keys() - known.keys():
            raise StateError(inside(part, str(name)), f"is no field of {kind.__name__}")
        return kind(**known)

    def _estimator(self, node: dict[str, Any], kind: Any, part: str) -> Any:
        parameters, known = set(kind._get_param_names()), attributes(kind)
        model: Any = object.__new__(kind)
        vars(model).update(defaults(kind))  # of parameters that are younger than the file
        for group, allowed in (("parameters", parameters), ("fitted", known - parameters)):
            for name, value in node[group].items():
                if name not in allowed:
                    raise StateError(inside(part, name), f"is no attribute of {kind.__name__}")
                vars(model)[name] = self._value(value, inside(part, name))
        return model

    def _value(self, node: Any, part: str, depth: int = 0) -> Any:
        if node is None or type(node) in (bool, int, float, str):
            return node
        if type(node) is not dict or len(node) != 1 or depth > _DEEPEST:
            raise StateError(part, "is no value that a model holds")
        ((tag, content),) = node.items()
        if tag in ("list", "tuple", "set"):
            items = [
                self._value(item, f"{part}[{i}]", depth + 1) for i, item in enumerate(_listed(content, part))
            ]
            return {"list": list, "tuple": tuple, "set": set}[tag](items)
        if tag == "dict":
            pairs = [_listed(pair, part, 2) for pair in _listed(content, part)]
            return {
                self._value(key, f"key of {part}", depth + 1): self._value(
                    item, f"{part}[{key!r}]", depth + 1
                )
                for key, item in pairs
            }
        read = {
            "array": self._array,
            "part": self._earlier,
            "names": _names,
            "float": _float,
            "scalar": _scalar,
        }
        if tag not in read:
            raise StateError(part, f"is a {tag[:60]}, which no model holds")
        return read[tag](content, part)

    def _earlier(self, number: Any, part: str) -> Any:
        if type(number) is not int or not 0 <= number < len(self._parts):
            raise StateError(part, "must be an earlier part")
        return self._parts[number]

    def _array(self, number: Any, part: str) -> np.ndarray:
        """An array in C order; a member that several fields name is read once, and they share it."""
        if type(number) is not int:
            raise StateError(part, "must be the number of a member")
        if number not in self._arrays:
            self._arrays[number] = read_array(self._archive, f"{number}.npy", part)
        return self._arrays[number]


def _has_keys(node: Any, keys: tuple[str, ...]) -> bool:
    """Whether a node has these keys and no other; what the first one names has its content by name."""
    return type(node) is dict and {*keys} == node.keys() and all(type(node[key]) is dict for key in keys[1:])


def read_array(archive: ZipFile, name: str, part: str) -> np.ndarray:
    """The array of a member; its shape is compared with the member before anything is allocated."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise StateError(part, f"is missing: there is no {name}", missing=True) from None
    with archive.open(info) as stream:
        shape, fortran, dtype = _header(stream)
        if dtype.kind not in "biuf":
            raise StateError(part, f"must be an array of numbers, got {dtype}")
        if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != info.file_size - stream.tell():
            raise StateError(part, f"has the shape {shape}, which is not what the file holds")
        out = np.empty(shape, dtype, order="F" if fortran else "C")
        _fill(out.T if fortran else out, stream, part)
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
    return read(stream)


def _fill(out: np.ndarray, stream: Any, part: str) -> None:
    """Read the numbers of ``out``, and the end of the member, where its checksum is compared."""
    left = out.reshape(-1).view(np.uint8).data if out.size else memoryview(b"")
    while len(left):
        count = stream.readinto(left[:_BLOCK])  # zipfile reads what is asked for beside it
        if not count:
            raise StateError(part, "ends too early")
        left = left[count:]
    if stream.read(1):
        raise StateError(part, "has more numbers than its shape")


def _listed(content: Any, part: str, length: int | None = None) -> list[Any]:
    if type(content) is not list or (length is not None and len(content) != length):
        raise StateError(part, "must be a list")
    return content


def _names(content: Any, part: str) -> np.ndarray:
    items = _listed(content, part)
    if not all(type(item) is str for item in items):
        raise StateError(part, "must be names")
    out = np.empty(len(items), object)
    out[:] = items
    return out


def _float(content: Any, part: str) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise StateError(part, "must be a number")
    return float(content)


def _scalar(content: Any, part: str) -> Any:
    name, value = _listed(content, part, 2)
    if name not in _SCALARS:
        raise StateError(part, "must be a number of numpy")
    value = _float(value["float"], part) if type(value) is dict and value.keys() == {"float"} else value
    if type(value) not in (bool, int, float):
        raise StateError(part, "must be a number")
    return np.dtype(name).type(value)
