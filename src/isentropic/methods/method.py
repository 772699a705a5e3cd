"""What a line of the registry says of a method, and what the methods of a family have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

from .._core.errors import require


@dataclass(frozen=True, slots=True)
class Family:
    """What the maps of several methods have in common."""

    name: str
    misread: str  # how its maps are misread
    figures: tuple[str, ...] = ()  # fitted attributes that say how good a map is
    alone: bool = True  # False: its methods need another estimator, so that no preset holds them


@dataclass(frozen=True, slots=True)
class Method:
    """What is known of a method without importing it."""

    name: str
    target: str  # "module:Class"
    summary: str
    family: str
    cost: str  # time; memory
    reference: str
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    needs_y: bool = False
    out_of_sample: Literal["exact", "optimised", "none"] = "exact"
    precomputed: bool = True
    draws_above: int | None = None  # rows beyond which another seed gives another map; None: never
    extra: str = ""  # what must be installed beside isentropic itself, by the name of the extra
    max_rows: int = 1_000_000
    preset: Literal["quick", "standard", "thorough"] = "thorough"  # the smallest that compares it
    figures: tuple[str, ...] = ()  # beside those of its family

    @property
    def module(self) -> str:
        return self.target.split(":")[0]

    @property
    def stochastic(self) -> bool:
        """Whether another seed can give another map."""
        return self.draws_above is not None

    def load(self) -> Any:
        """The estimator class."""
        module, _, name = self.target.partition(":")
        return getattr(import_module(module), name)


_SCALED = ("eigenvalues_", "residual_variance_", "euclidean_defect_")

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in (
    Family("linear", "Groups that overlap here may be separate in directions that are not shown.",
           ("explained_variance_ratio_",)),
    Family("stress", "Large distances are preserved first: rows that look close may only be crowded "
           "together.", (*_SCALED, "cost_", "stress_")),
    Family("short-range", "Short distances are reliable, long ones are not: a surface may be torn, and rows "
           "far apart on the map may be neighbours.", ("cost_", "error_")),
    Family("geodesic", "Distances follow the neighbour graph: an edge across a gap folds the map, and the "
           "distance between disconnected components is arbitrary.", _SCALED),
    Family("pairs", "The overall order of distances is preserved; fine neighbourhoods may be mixed.",
           ("cost_", "kendall_tau_", "kendall_tau_interval_")),
    Family("spectral", "Distances are diffusion distances: sparse regions are stretched, dense ones shrunk.",
           ("eigenvalues_",)),
    Family("neighbours", "Sizes of clusters and the gaps between them mean nothing; neighbourhoods do."),
    Family("lattice", "Rows are placed on the nodes of a grid, whose even spacing is not a distance of the "
           "data: the U-matrix or the magnification shows that.",
           ("quantization_error_", "topographic_error_")),
    Family("neural", "A network bends and stretches freely: gaps and sizes of clusters mean little, and rows "
           "unlike the fitted ones may land anywhere.", ("reconstruction_error_", "held_out_error_")),
    Family("wrapper", "Read it as the map that it mimics: it errs where that one does.", ("loss_",),
           alone=False),
)})  # fmt: skip
_UNKNOWN = "Axes, gaps and sizes of clusters need not mean anything."


def family_of(method: Method) -> Family:
    """That of a method; one that another package brings need not be known here."""
    require(isinstance(method, Method), "method", "a line of METHODS", method)
    return FAMILIES.get(method.family) or Family(method.family, _UNKNOWN)
