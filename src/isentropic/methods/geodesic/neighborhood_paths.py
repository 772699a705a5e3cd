"""ISOMAP over growing neighbourhoods: one search of neighbours, paths from one end, warm block Krylov."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import is_whole, require, require_count
from ..._core.values import Knn, NeighborGraph, Radius
from ...geodesics import PairSequence
from ...linalg import Scaling, fixed_signs, warm_scaling
from ...neighbors import (
    as_rule,
    checked_table,
    directed_within,
    first_neighbors,
    joined_graph,
    listed_graph,
    searched_neighbors,
    use_approximate,
)


@dataclass(frozen=True, slots=True)
class PathStep:
    """The map of one size of the neighbourhood, and what it was made of."""

    value: Knn | Radius
    graph: NeighborGraph
    geodesics: np.ndarray  # of all pairs, condensed; in the order that the path has the rows in
    in_order: Scaling  # of the rows in that order
    rows: np.ndarray  # the order

    @property
    def scaling(self) -> Scaling:
        """Coordinates in the order of the table, their signs as those of a fit."""
        Z = np.empty_like(self.in_order.embedding)
        Z[self.rows] = self.in_order.embedding
        return replace(self.in_order, embedding=fixed_signs(Z))


def path_steps(
    X: np.ndarray, values: list[Any], n_components: int, *, random_state: Any = None, **options: Any
) -> Iterator[PathStep]:
    """The maps of growing neighbourhoods, one after the other; ``options`` are those of a graph.

    Each is that of ISOMAP up to rounding. Neighbours are searched once, for the largest; the eigenvectors of
    one map start the iteration for the next; the order of the rows in which shortest paths are searched is
    found once, and each pair is searched from one end. ``O(n^2 k)`` time a map, ``4.3 n^2`` bytes.
    """
    n_jobs = options["n_jobs"]
    longest, *shorter = _graphs(X, values, random_state, options)
    sequence, start = PairSequence(longest, n_jobs=n_jobs), None
    for value, graph in zip(values, (*reversed(shorter), longest), strict=True):
        G = sequence.all_pairs(graph)
        scaling, start = warm_scaling(G, len(X), n_components, start, n_jobs=n_jobs)
        yield PathStep(value, graph, G, scaling, sequence.rows)


def maps_of_values(
    X: Any, given: list[Any], n_components: int, **options: Any
) -> Iterator[tuple[int, np.ndarray]] | None:
    """The map of each of the given sizes, with its place among them, the smallest size first.

    None where lists would not be those of a fit: searched approximately, or longer than there are rows.
    """
    values = checked_values(given)
    X = checked_table(X, values[-1], options["metric"], fewest=3)
    lists = [value for value in values if isinstance(value, Knn)]
    exact = all(value.k < len(X) and not use_approximate(value, X, options["metric"]) for value in lists)
    if not exact or not 1 < len(values) == len(given):
        return None
    rules = [as_rule(value) for value in given]
    steps = path_steps(X, values, n_components, **options)
    return ((rules.index(step.value), step.scaling.embedding) for step in steps)


def checked_values(given: Any) -> list[Any]:
    """Growing numbers of neighbours, or growing radii, without repeats."""
    must_be = "several numbers of neighbours, or several Radius"
    require(
        isinstance(given, list | tuple | range | np.ndarray) and len(given) > 0, "n_neighbors", must_be, given
    )
    for value in given:
        require(is_whole(value) or isinstance(value, Knn | Radius), "n_neighbors", must_be, given)
    radii = [value for value in given if isinstance(value, Radius)]
    if radii:
        require(len(radii) == len(given), "n_neighbors", must_be, given, "Take two paths.")
        return sorted(set(radii), key=lambda radius: radius.eps)
    rules = [value if isinstance(value, Knn) else Knn(int(value)) for value in given]
    for rule in rules:
        require_count("n_neighbors", rule.k)
    alike = len({(rule.approximate, rule.exact_below) for rule in rules}) == 1
    require(alike, "n_neighbors", "of one kind of search", given)
    return sorted(set(rules), key=lambda rule: rule.k)


def _graphs(
    X: np.ndarray, values: list[Any], random_state: Any, options: dict[str, Any]
) -> Iterator[NeighborGraph]:
    """The graph of each value, the last one first: one search finds the lists of all."""
    largest, metric, n_jobs = values[-1], options["metric"], options["n_jobs"]
    if isinstance(largest, Knn):
        lists = searched_neighbors(X, largest, metric=metric, random_state=random_state, n_jobs=n_jobs)
        for value in reversed(values):
            yield listed_graph(X, first_neighbors(lists, value.k), **options)
        return
    edges = directed_within(X, largest, metric, n_jobs)
    for value in reversed(values):
        yield joined_graph(X, _nearer(edges, value.eps), value.kind, **options)


def _nearer(edges: csr_array, eps: float) -> csr_array:
    """The edges shorter than ``eps``; edges of length 0 stay."""
    near = edges.data < eps
    indptr = np.concatenate([[0], np.cumsum(near)])[edges.indptr]
    return csr_array((edges.data[near], edges.indices[near], indptr), shape=edges.shape)
