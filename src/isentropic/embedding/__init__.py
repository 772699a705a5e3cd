"""What methods of all families share, also for methods of other packages.

A method is an :class:`Embedder` whose ``fit`` begins with ``training_data(self, X)`` of the module of that
name, calls stages by name, and ends with ``_set_fit``: the embedding, an out-of-sample map, and public
results. Maps are made of parts (:class:`Part`), whose fields carry their spec in the annotation. Names load
on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Array": ".._core.specs",
    "ClassModel": ".class_model",
    "Embedder": ".embedder",
    "GeodesicMap": ".maps.geodesic",
    "KernelMap": ".maps.nystrom",
    "LatticeMap": ".maps.lattice",
    "LinearMap": ".maps.linear",
    "NComponents": ".training_data",
    "NJobs": ".training_data",
    "NearestRows": ".maps.row_optimizer",
    "NetworkMap": ".maps.network",
    "Part": ".training_data",
    "RowOptimizer": ".maps.row_optimizer",
    "Sub": ".._core.state",
    "SupportsInverse": ".embedder",
    "TrainingData": ".training_data",
    "all_or_nothing": ".embedder",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(_PUBLIC)
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
