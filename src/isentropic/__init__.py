"""Dimensionality reduction and metric learning whose results can be trusted.

Public names load on first use: ``import isentropic`` imports neither numba nor scikit-learn. Those of methods
derive from the registry.
"""

from __future__ import annotations

from functools import cache
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
    "PerplexityWarning",
    "StoredRunWarning",
    "TableWarning",
    "TimeBudgetWarning",
)
_PUBLIC = {
    "FAMILIES": "registry",
    "METHODS": "registry",
    "Neighbors": "_core.values",
    "Explanation": "comparison",
    "Appended": "meta",
    "Groups": "comparison",
    "LabelTest": "comparison",
    "Path": "meta",
    "Run": "comparison",
    "Selected": "meta",
    "append_rows": "meta",
    "compare": "comparison",
    "config_context": "_core.runtime",
    "explain": "comparison",
    **dict.fromkeys(_ERRORS, "_core.errors"),
    "find_groups": "comparison",
    "get_config": "_core.runtime",
    "isomap_path": "meta",
    "label_permutation_test": "comparison",
    "load": "_core.models.saving",
    "make": "registry",
    "nearest_neighbors": "neighbors",
    "neighbor_graph": "affinities",
    "save": "_core.models.saving",
    "set_config": "_core.runtime",
}
_SUBMODULES = (
    "affinities",
    "comparison",
    "datasets",
    "distances",
    "divergences",
    "experiments",
    "geodesics",
    "linalg",
    "meta",
    "neighbors",
    "plot",
    "quality",
    "registry",
    "report",
    "scale",
    "selection",
)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*_PUBLIC, *_derived(), *_SUBMODULES, "__version__"]
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    home = _PUBLIC.get(name) or (None if name.startswith("_") else _derived().get(name))
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))


@cache
def _derived() -> dict[str, str]:
    """Homes of the estimators of the registry, and of the choices of a stage."""
    methods = import_module(".registry", __name__).METHODS
    stages = import_module("._core.values", __name__).STAGES
    targets = (method.target.split(":") for method in methods.values())
    ours = {kind: module for module, kind in targets if module.startswith(f"{__name__}.")}
    homes = {kind: module.removeprefix(f"{__name__}.") for kind, module in ours.items()}
    return {**homes, **{stage.__name__: "_core.values" for stage in stages.values()}}
