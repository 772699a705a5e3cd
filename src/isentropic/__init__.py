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
    "UndefinedMeasureError",
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
    "EntropicIsomap": "methods.entropic_isomap",
    "Geodesic": "_values",
    "Inflate": "_values",
    "Isomap": "methods.isomap",
    "KDEIsomap": "methods.kde_isomap",
    "Knn": "_values",
    "Landmarks": "_values",
    "Momentum": "_values",
    "MultiSDD": "methods.multi_sdd",
    "METHODS": "registry",
    "PCA": "methods.pca",
    "ParameterFreeSDD": "methods.parameter_free_sdd",
    "ParametricEmbedding": "meta",
    "Percentile": "_values",
    "Pnn": "_values",
    "Radius": "_values",
    "Run": "comparison",
    "Selected": "meta",
    "compare": "comparison",
    "SDD": "methods.sdd",
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
    "divergences",
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
