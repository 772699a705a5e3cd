"""Presets of a comparison: methods, parameter grids and seeds.

A preset holds what the registry's lines say of themselves: a new method is in the thorough one, and in a
smaller one only if its line says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from .. import registry
from ..selection import geometric, neighbor_grid

LARGE = 10_000  # of more rows a sample is compared: one map of 20,000 is measured in 70 s and 3.6 GB
SAMPLE_ROWS = 5_000  # of such a table: up to there all scores are exact, and few methods draw
MIXED_SAMPLE_ROWS = 3_000  # by Gower's metric, whose distances take a loop over the columns
TUNED_ROWS = 1_500  # of the sample, on which parameters are chosen
MIXED, MIXED_SCORED_ROWS = 6_000, 2_000  # rows of a mixed table: of more than the first, so many are compared
MEDIUM = 2_000  # of more rows the quick preset scores a part, and draws pairs of rows for distances
QUICK_SCORED_ROWS = 1_000
LIGHTER: Mapping[str, Mapping[str, Any]] = MappingProxyType({"parameter-free-sdd": {"pairs": 20}})
# what the quick preset changes then: 3 s instead of 15 for 5,000 x 784, tau 0.78 instead of 0.80
SCORED_ROWS = 2_000  # of a large table, compared with all others: intervals of T and C some 0.015 wide


COSTLY: Mapping[str, int] = MappingProxyType({"multiscale-t-sne": 750, "sdd": 6_000})
# rows beyond which a method takes more than half of the time of all others of the standard preset together:
# 7 s for 1,000 rows of 4 columns, all others 11 s. t-SNE and parameter-free SDD stand for them.
TWINS = frozenset({"classical-mds"})  # whose map of Euclidean distances is that of PCA


@dataclass(frozen=True, slots=True)
class Preset:
    """Methods, number of parameter sets and number of seeds of a comparison."""

    name: str
    text: str
    variants: bool  # also presets of a class whose plain form is compared already
    tune: bool
    budget: int  # sets of parameters for each method
    n_seeds: int
    n_permutations: int  # of rows, for what chance gives
    n_label_permutations: int  # for each method that learns from classes
    n_walks: int  # rows that are tested for jumps of the map
    tuned_rows: int | None = None  # on which parameters are chosen, of more rows; None: on all
    scored_rows: int | None = None  # that are compared with all others, of more; None: as assess() draws
    every_walk: bool = False  # whether all maps are tested for jumps, or only the shown one
    costly: bool = True  # whether methods that take as long as all others are compared on many rows
    light: bool = False  # whether many rows are scored in part, and mapped by the LIGHTER parameters

    def for_rows(self, n_rows: int) -> Preset:
        """The preset for so many compared rows."""
        if not self.light or n_rows <= MEDIUM or self.scored_rows is not None:
            return self
        return replace(self, scored_rows=QUICK_SCORED_ROWS)

    def too_costly(self, methods: Iterable[str], n_rows: int) -> tuple[str, ...]:
        """Methods that would take more time than all others together.

        >>> PRESETS["standard"].too_costly(["pca", "multiscale-t-sne"], 5_000)
        ('multiscale-t-sne',)
        """
        return () if self.costly else tuple(name for name in methods if n_rows > COSTLY.get(name, n_rows))

    def params_of(self, method: str, n_rows: int) -> Mapping[str, Any]:
        """Parameters that the preset changes for so many rows."""
        return LIGHTER.get(method, {}) if self.light and n_rows > MEDIUM else {}

    @property
    def for_sample(self) -> Preset:
        """For a sample of a large table."""
        return replace(self, tuned_rows=TUNED_ROWS)

    @property
    def for_mixed(self) -> Preset:
        """For many rows by Gower's metric, whose distances take a loop over the columns."""
        return replace(self, tuned_rows=TUNED_ROWS, scored_rows=MIXED_SCORED_ROWS)

    @property
    def for_full_table(self) -> Preset:
        """For all rows of a large table, once a method and its parameters are chosen."""
        return replace(self, tune=False, n_seeds=1, scored_rows=SCORED_ROWS)


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset(
                "quick",
                "PCA, UMAP, t-SNE and one method for distances, with their defaults and one seed",
                variants=False,
                tune=False,
                budget=1,
                n_seeds=1,
                n_permutations=19,
                n_label_permutations=9,
                n_walks=100,
                light=True,
            ),
            Preset(
                "standard",
                "the main methods, the best of up to 5 settings of each, 3 seeds where a method draws",
                variants=False,
                tune=True,
                budget=5,
                n_seeds=3,
                n_permutations=19,
                n_label_permutations=19,
                n_walks=200,
                tuned_rows=TUNED_ROWS,
                costly=False,
            ),
            Preset(
                "thorough",
                "all methods and variants, the best of up to 12 settings each, 5 seeds where a method draws",
                variants=True,
                tune=True,
                budget=12,
                n_seeds=5,
                n_permutations=99,
                n_label_permutations=39,
                n_walks=500,
                every_walk=True,
            ),
        )
    }
)


def methods_of(preset: Preset, n_rows: int, *, has_classes: bool, of_columns: bool = True) -> tuple[str, ...]:
    """Names of the methods that a preset compares on a table of ``n_rows`` rows, as the registry has them.

    Where rows are compared by another metric than that ``of_columns`` of numbers, the methods of distances.

    Classical MDS of Euclidean distances is the map of PCA: it takes the place of PCA elsewhere.

    >>> methods_of(PRESETS["quick"], 150, has_classes=False)
    ('pca', 'parameter-free-sdd', 't-sne', 'umap')
    >>> methods_of(PRESETS["quick"], 150, has_classes=False, of_columns=False)
    ('classical-mds', 'parameter-free-sdd', 't-sne', 'umap')
    """
    smaller_or_equal = tuple(PRESETS)[: tuple(PRESETS).index(preset.name) + 1]
    chosen = [
        method
        for method in registry.METHODS.values()
        if method.preset in smaller_or_equal
        and registry.family_of(method).alone
        and (has_classes or not method.needs_y)
        and (of_columns or method.precomputed)
        and (preset.variants or not of_columns or method.name not in TWINS)
    ]
    plain = {method.target for method in chosen if not method.params and n_rows <= method.max_rows}
    return tuple(
        method.name for method in chosen if preset.variants or not method.params or method.target not in plain
    )


# ---- what is tried -----------------------------------------------------------------------------


def _neighbors(n_rows: int, count: int, default: Any) -> tuple[Any, ...]:
    return neighbor_grid(n_rows, count, default if isinstance(default, int) else None)


def _percentiles(n_rows: int, count: int, default: Any) -> tuple[Any, ...]:
    """From where a row has about 5 neighbours to 10% of the rows; beyond, the graph is dense and slow."""
    high = max(10.0, min(100.0, 100 * 10 / n_rows))
    low = min(max(100 * 5 / n_rows, 1.0), high)
    return tuple(dict.fromkeys(float(f"{value:.2g}") for value in geometric(low, high, count)))


def _perplexities(n_rows: int, count: int, default: Any) -> tuple[Any, ...]:
    high = max(2.0, min(100.0, (n_rows - 1) / 3))
    return tuple(float(f"{value:.3g}") for value in geometric(min(5.0, high), high, count))


# the parameter that decides most about a map, and the values of it worth trying; the first that a method has
TUNED: Mapping[str, Callable[[int, int, Any], tuple[Any, ...]]] = MappingProxyType(
    {"n_neighbors": _neighbors, "percentile": _percentiles, "perplexity": _perplexities}
)


def grid_of(params: Mapping[str, Any], n_rows: int, count: int) -> dict[str, tuple[Any, ...]]:
    """A small grid for a method with these parameters; empty where there is nothing to tune.

    >>> grid_of({"n_neighbors": 10, "n_components": 2}, 1000, 5)
    {'n_neighbors': (5, 10, 22, 47, 100)}
    >>> grid_of({"whiten": False}, 1000, 5)
    {}
    """
    for name, values in TUNED.items():
        if name in params:
            return {name: values(n_rows, count, params[name])}
    return {}
