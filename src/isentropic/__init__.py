"""Dimensionality reduction and metric learning whose results can be trusted.

Public names load on first use: ``import isentropic`` imports neither numba nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ERRORS = (
    "IsentropicError",
    "DisconnectedGraphError",
    "FileFormatError",
    "InvalidInputError",
    "MemoryBudgetError",
    "MissingExtraError",
    "IsentropicWarning",
    "DisconnectedGraphWarning",
    "LandmarksClippedWarning",
    "LowRecallWarning",
    "NegativeEigenvalueWarning",
    "NeighborsClippedWarning",
    "TableWarning",
)
_PUBLIC = {
    "Can": "_values",
    "ClassicalMDS": "methods.classical_mds",
    "Inflate": "_values",
    "Isomap": "methods.isomap",
    "Knn": "_values",
    "Landmarks": "_values",
    "METHODS": "registry",
    "PCA": "methods.pca",
    "Percentile": "_values",
    "Pnn": "_values",
    "Radius": "_values",
    "Run": "comparison",
    "Selected": "meta",
    "compare": "comparison",
    "config_context": "_runtime",
    **dict.fromkeys(_ERRORS, "_errors"),
    "get_config": "_runtime",
    "load": "_io",
    "make": "registry",
    "neighbor_graph": "neighbors",
    "save": "_io",
    "set_config": "_runtime",
}
_SUBMODULES = (
    "comparison",
    "datasets",
    "geodesics",
    "linalg",
    "neighbors",
    "quality",
    "registry",
    "selection",
)

__all__ = [*_PUBLIC, *_SUBMODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
