"""Reads the parts of a skops archive: plain values, arrays, and objects of classes that declare their state.

skops writes these files; here they are read without it, so that what is rebuilt is what is declared and
nothing else runs: an object gets its attributes, no ``__setstate__`` of its own is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any
from zipfile import ZipFile

import numpy as np

from ..state import StateError, attributes, defaults, inside, uses_parts
from .model_file import UntrustedTypeError, read_array

_DEEPEST = 32  # parts within parts; those of a model are about ten deep
_JSON_COST = 40  # bytes of memory that a byte of JSON may take as objects
_KEYS = {"builtins.str": str, "builtins.int": int, "builtins.float": float}
_COLLECTIONS = {"ListNode": list, "SetNode": set, "TupleNode": tuple}
_SCALARS = {f"numpy.{name}" for name in ("bool", "float32", "float64", "int32", "int64")}

Node = dict[str, Any]


class OutdatedModelError(ValueError):
    """The model is, or does, what this version no longer can."""


def unpacked_size(archive: ZipFile) -> int:
    """Bytes of memory that reading may take. Each member is read once, however many parts name it."""
    members = archive.infolist()
    text = sum(member.file_size for member in members if member.filename.endswith(".json"))
    return 2 * sum(member.file_size for member in members) + _JSON_COST * text


def type_name(node: Node) -> str:
    """What a node says that it is."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def parsed(text: bytes) -> Any:
    """The value of JSON; raises where a key comes twice, of which readers may take the one or the other."""
    return json.loads(text, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> Node:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key of its JSON comes twice")
    return found


class ArchiveReader:
    """The parts of one archive; ``class_of`` gives the class of a name, None for one that is not trusted."""

    def __init__(self, archive: ZipFile, class_of: Callable[[str], type | None]):
        self._archive, self._class_of = archive, class_of
        self._arrays: dict[str, np.ndarray] = {}

    def read(self) -> Any:
        """The object that the archive holds."""
        return self._part(parsed(self._archive.read("schema.json")), "", 0)

    def _part(self, node: Any, part: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise StateError(part[:60], f"is more than {_DEEPEST} parts deep")
        try:
            return self._value(node, part, depth + 1)
        except (StateError, UntrustedTypeError, OutdatedModelError, MemoryError):
            raise
        except Exception as error:  # whatever a node that is not as skops writes it leads to
            raise StateError(part, f"cannot be read ({type(error).__name__}: {error})") from error

    def _value(self, node: Node, part: str, depth: int) -> Any:
        loader, name = node["__loader__"], type_name(node)
        if loader == "JsonNode" and name == "builtins.str":
            return _scalar(json.loads(node["content"]), part)
        if loader == "NdArrayNode" and (name == "numpy.ndarray" or name in _SCALARS):
            return self._numbers(node, name, part, depth)
        if loader == "DictNode" and name == "builtins.dict":
            return self._dictionary(node, part, depth)
        collection = _COLLECTIONS.get(loader)
        if collection is not None and name == f"builtins.{collection.__name__}":
            return collection(self._items(node["content"], part, depth))
        kind = self._class_of(name) if loader == "ObjectNode" else None
        if kind is None:
            raise UntrustedTypeError(name)
        return self._object(kind, node["content"], part, depth)

    def _items(self, nodes: list[Node], part: str, depth: int) -> list[Any]:
        return [self._part(node, f"{part}[{i}]", depth) for i, node in enumerate(nodes)]

    def _dictionary(self, node: Node, part: str, depth: int) -> dict[Any, Any]:
        kinds = [_KEYS[type_name(kind)] for kind in node["key_types"]["content"]]
        return {
            kind(key): self._part(value, f"{part}[{key!r}]", depth)
            for kind, (key, value) in zip(kinds, node["content"].items(), strict=True)
        }

    def _object(self, kind: type, content: Node, part: str, depth: int) -> Any:
        if is_dataclass(kind):
            names = [field.name for field in fields(kind)][: len(content["content"])]
            nodes = zip(names, content["content"], strict=True)
            return kind(**{name: self._part(node, inside(part, name), depth) for name, node in nodes})
        if uses_parts(kind):
            raise OutdatedModelError(f"it holds {kind.__name__} as earlier versions saved it")
        known, gone = attributes(kind), getattr(kind, "_gone", {})
        for name in content["content"]:
            if name not in known and name not in gone:
                raise StateError(inside(part, name), f"is no attribute of {kind.__name__}")
        model: Any = object.__new__(kind)
        vars(model).update(defaults(kind))  # of parameters that are younger than the file
        for name, node in content["content"].items():
            value = self._part(node, inside(part, name), depth)
            if name in known:
                vars(model)[name] = value
            elif gone[name] is not ... and value != gone[name]:
                raise OutdatedModelError(f"its {inside(part, name)} is {value!r}, which earlier versions had")
        return model

    def _numbers(self, node: Node, name: str, part: str, depth: int) -> Any:
        if node["type"] == "json" and name == "numpy.ndarray":  # the names of columns
            items = self._items(node["content"], part, depth)
            out = np.empty(len(items), object)
            out[:] = items
            return out
        found = self._member(node["file"], part)
        if name == "numpy.ndarray":
            return found
        if found.shape != () or f"numpy.{found.dtype}" != name:
            raise StateError(part, f"must be one {name}, got {found.dtype} of shape {found.shape}")
        return found[()]

    def _member(self, name: str, part: str) -> np.ndarray:
        """An array in C order; a member that several parts name is read once, and they share it."""
        if name not in self._arrays:
            self._arrays[name] = read_array(self._archive, name, part)
        return self._arrays[name]


def _scalar(value: Any, part: str) -> Any:
    if value is not None and type(value) not in (bool, int, float, str):
        raise StateError(part, f"must be a number, a string or None, got a {type(value).__name__}")
    return value
