"""Stages of local methods: neighbourhoods, their weights and tangents, coordinates that align them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..._core.arguments import Choice, Real
from ..._core.errors import IsentropicWarning, require_count, warn
from ..._core.runtime import one_blas_thread, row_blocks
from ..._core.specs import Array
from ..._core.state import Sub
from ..._core.values import Knn
from ...affinities import barycentric_weights
from ...embedding.components import (
    EmbeddedRows,
    complete_embedding,
    initial_coordinates,
    operator_block,
    pack_components,
    rows_by_component,
)
from ...embedding.maps.barycentric import BarycentricMap, BarycentricWeights, RowsOfParts
from ...embedding.maps.linear import padded_directions
from ...embedding.training_data import Part, TrainingData
from ...linalg import bottom_eigenpairs, bottom_squared_eigenpairs, eigenpairs_by_rank
from ...linalg.centering import CentredRows
from ...linalg.eigen import count_still_coordinates, eigengap, padded
from ...neighbors import component_labels, graph_of_lists, searched_neighbors, warn_of_components

_NUMBERS_AT_ONCE = 2**20  # in the blocks, or the differences, of some rows
_NO_DISTANCES = "A graph in parts has no distances here that could be inflated."
Regularization = Annotated[float, Real("a positive number", above=0)]
OnDisconnected = Annotated[str, Choice("bridge", "largest", "raise", "separate", hint=_NO_DISTANCES)]
Connected = Annotated[str, Choice("bridge", "largest", "raise", hint=_NO_DISTANCES)]


@dataclass(frozen=True, slots=True)
class Neighborhoods:
    """The neighbours of every fitted row, self excluded; the ends of a bridge are in each other's list."""

    fitted: np.ndarray  # (g,) rows of the table
    near: np.ndarray  # (g, k) among the fitted ones, nearest first
    bridges: np.ndarray  # (b, 2)
    labels: np.ndarray | None = None  # (g,) the part of each, where parts are mapped by themselves

    def by_size(self, width: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Some rows, and their lists, which are equally long: so few that blocks of ``width`` are small."""
        extra: dict[int, list[int]] = {}
        for a, b in self.bridges.tolist():
            extra.setdefault(a, []).append(b)
            extra.setdefault(b, []).append(a)
        ends = np.array(sorted(extra), np.int64)
        inner = np.setdiff1d(np.arange(len(self.near)), ends, assume_unique=True)
        k = self.near.shape[1]
        for block in row_blocks(len(inner), "patches", size=max(1, _NUMBERS_AT_ONCE // (k * max(width, k)))):
            yield inner[block], self.near[inner[block]]
        for count in sorted({len(others) for others in extra.values()}):
            rows = np.array([i for i in ends if len(extra[i]) == count])
            added = np.array([sorted(extra[i]) for i in rows])
            yield rows, np.concatenate([self.near[rows], added], axis=1)


def find_neighborhoods(
    X: np.ndarray, n_neighbors: int, on_disconnected: str = "bridge", n_jobs: int | None = None
) -> Neighborhoods:
    """Neighbourhoods of all rows, or of the largest component if that is the policy."""
    found = searched_neighbors(X, Knn(n_neighbors), n_jobs=n_jobs)
    if on_disconnected == "separate":
        n, k = found.indices.shape
        labels = component_labels(np.arange(0, n * k + 1, k), found.indices.ravel()).astype(np.int64)
        warn_of_components(labels, "each is mapped by itself, and how they lie side by side means nothing")
        near = found.indices.astype(np.int64)
        return Neighborhoods(np.arange(n), near, np.empty((0, 2), np.int64), labels)
    graph = graph_of_lists(X, found, on_disconnected=on_disconnected, n_jobs=n_jobs)
    if on_disconnected != "largest":
        return Neighborhoods(np.arange(len(X)), found.indices.astype(np.int64), graph.bridges)
    fitted = np.flatnonzero(graph.components == 0)
    near = np.searchsorted(fitted, found.indices[fitted])  # lists never lead out of a part
    return Neighborhoods(fitted, near, graph.bridges)


def reconstruction_weights(X: np.ndarray, lists: Neighborhoods, regularization: float) -> csr_array:
    """``W`` (g, g): each fitted row of ``X`` as a sum of its neighbours, with weights of sum 1."""
    g = len(lists.fitted)
    X, heads, tails, weights = X[lists.fitted], [], [], []
    for rows, near in lists.by_size(X.shape[1]):
        heads.append(np.repeat(rows, near.shape[1]))
        tails.append(near.ravel())
        weights.append(barycentric_weights(X[rows], near, X, regularization).ravel())
    entries = np.concatenate(heads), np.concatenate(tails)
    return csr_array(coo_array((np.concatenate(weights), entries), shape=(g, g)))


def require_neighbors(n_neighbors: Any, n_components: int) -> int:
    """Check that there are at least as many neighbors as coordinates."""
    must_be = f"an integer of at least n_components = {n_components}"
    return require_count("n_neighbors", n_neighbors, must_be, least=n_components)


def barycentric_map(
    data: TrainingData, lists: Neighborhoods, regularization: float, Z: np.ndarray, d: int,
    n_jobs: int | None, *, convex: bool = False,
) -> BarycentricMap:  # fmt: skip
    """The map by which a new row is a sum of its nearest rows, with coordinates for all training rows.

    ``Z`` are those of the embedded ones.
    """
    rows, parts = lists.fitted, lists.labels
    query = EmbeddedRows(data, rows) if parts is None else RowsOfParts(data, rows, parts)
    weights = BarycentricWeights(lists.near.shape[1], regularization, convex)
    new_rows = BarycentricMap(query, weights, initial_coordinates(query, Z, d))
    found: BarycentricMap = complete_embedding(new_rows, rows, n_jobs)
    return found


# ---- Coordinates of local methods: bottom eigenvectors of an operator that ties neighbors --------


def bottom_coordinates(
    operator: csr_array, n_components: int, parts: np.ndarray | None = None, *, squared: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """Bottom eigenvectors of the operator, or of its square ``A'A``, each of mean square 1; and results.

    The constant one is left out. Where there are ``parts``, each row's, each part has its own eigenvectors,
    and the figures are those of the first, the largest.
    """
    members = [np.arange(operator.shape[0])] if parts is None else rows_by_component(parts)
    blocks = [operator_block(operator, rows) for rows in members]
    pairs = [_bottom(one, n_components, squared) for one in blocks]
    values, Z = pairs[0]
    count = Z.shape[1]
    results = {
        "eigenvalues_": padded(values[:count], n_components),
        "eigengap_": eigengap(values, count),
        "n_separating_": count_still_coordinates(Z, blocks[0]),
    }
    if len(members) > 1:
        wide = [np.pad(one, ((0, 0), (0, n_components - one.shape[1]))) for _, one in pairs]
        Z = pack_components(wide, members)
    return Z, results


def _bottom(operator: csr_array, n_components: int, squared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, one more than coordinates if possible, and coordinates."""
    n = operator.shape[0]
    count = min(n_components, n - 1)
    eigenpairs = bottom_squared_eigenpairs if squared else bottom_eigenpairs
    values, vectors = eigenpairs(operator, min(count + 1, n - 1), known=np.ones(n))
    return values, np.sqrt(n) * vectors[:, :count]


RANK = 1e-6  # of the widest spread of a patch: what is below is rounding, of squares


@dataclass(frozen=True, slots=True)
class Tangents:
    """Patches of p rows around their means, the d leading directions of each, zero beyond its rank."""

    rows: np.ndarray  # (r, p, m): around the mean, in units of their own
    means: np.ndarray  # (r, m): of the patch, from its first row, in these units
    units: np.ndarray  # (r,): powers of two, so that dividing rounds nothing
    basis: np.ndarray  # (r, p, d): left singular vectors
    spreads: np.ndarray  # (r, d): singular values

    @classmethod
    def of(cls, X: np.ndarray, patches: np.ndarray, d: int) -> Tangents:
        """``O(p min(p, m)^2 + p^2 m)`` time a patch, each by itself."""
        rows = X[patches] - X[patches[:, :1]]  # from a row first: an offset costs no digits of what is left
        units = np.ldexp(1.0, np.frexp(np.abs(rows).max(axis=(1, 2)))[1])
        rows /= units[:, None, None]
        means = rows.mean(axis=1)
        rows -= means[:, None]
        with one_blas_thread():
            basis, spreads = _leading(rows, d)
        there = spreads > RANK * spreads[:, :1]
        return cls(rows, means, units, basis * there[:, None], spreads * there)

    @property
    def ranks(self) -> np.ndarray:
        return np.count_nonzero(self.spreads, axis=1)

    def alignments(self) -> np.ndarray:
        """Blocks ``I - 11'/p - UU'`` (r, p, p): 0 for functions that are affine in the tangents."""
        p = self.basis.shape[1]
        blocks = -(self.basis @ self.basis.transpose(0, 2, 1)) - 1 / p
        blocks[:, np.arange(p), np.arange(p)] += 1
        return blocks


def _leading(rows: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and values, largest first; from products where features are more than rows."""
    r, p, m = rows.shape
    if m <= p:
        basis, spreads, _ = np.linalg.svd(rows, full_matrices=False)
    else:
        squares, basis = np.linalg.eigh(rows @ rows.transpose(0, 2, 1))
        spreads, basis = np.sqrt(np.maximum(squares[:, ::-1], 0)), basis[:, :, ::-1]
    count = min(d, spreads.shape[1])
    full, wide = np.zeros((r, p, d)), np.zeros((r, d))
    full[:, :, :count], wide[:, :count] = basis[:, :, :count], spreads[:, :count]
    return full, wide


def tangent_blocks(X: np.ndarray, lists: Neighborhoods, d: int) -> Iterator[tuple[np.ndarray, Tangents]]:
    """Patches, each embedded row before its neighbours, with their tangents; warns of a lower rank."""
    X, poor = X[lists.fitted], 0
    for rows, near in lists.by_size(X.shape[1]):
        patches = np.concatenate([rows[:, None], near], axis=1)
        tangents = Tangents.of(X, patches, d)
        poor += int(np.count_nonzero(tangents.ranks < d))
        yield patches, tangents
    if poor:
        what = f"{poor} of {len(X)} patches span fewer than {d} dimensions, as where many rows are equal"
        warn(f"{what}: they are aligned along those that they have.", IsentropicWarning)


def require_patch_size(n_neighbors: Any, least: int, n_components: int) -> int:
    """Check that a patch has enough neighbors."""
    must_be = f"an integer of at least {least}, for n_components = {n_components}"
    return require_count("n_neighbors", n_neighbors, must_be, least=least)


@dataclass(frozen=True, eq=False)
class TangentMap(Part):
    """Map a new row by the tangent coordinates in the patch of its nearest row."""

    query: Annotated[EmbeddedRows, Sub(EmbeddedRows)]
    patches: Annotated[np.ndarray, Array("g", "p", dtype=np.int64, below="n")]  # of the embedded rows
    Z: Annotated[np.ndarray, Array("n", "d")]

    @classmethod
    def fit(
        cls, data: TrainingData, lists: Neighborhoods, Z: np.ndarray, d: int, n_jobs: int | None
    ) -> TangentMap:
        """With coordinates for all training rows; ``Z`` are those of the embedded ones."""
        query = EmbeddedRows(data, lists.fitted)
        patches = lists.fitted[np.column_stack([np.arange(len(lists.near)), lists.near])]
        new_rows = cls(query, patches, initial_coordinates(query, Z, d))
        found: TangentMap = complete_embedding(new_rows, lists.fitted, n_jobs)
        return found

    @property
    def data(self) -> TrainingData:
        """The training data."""
        return self.query.data

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """``y = mean(Y) + Y' U S^-1 t``, t the row's coordinates along the directions of the patch."""
        centres = self.query.nearest(X, 1, n_jobs)[:, 0]
        known, (p, m), d = self.data.X, (self.patches.shape[1], X.shape[1]), self.Z.shape[1]
        Z = np.empty((len(X), d))
        for block in row_blocks(len(X), "places", size=max(1, _NUMBERS_AT_ONCE // (p * max(p, m)))):
            patches = self.patches[centres[block]]
            found = Tangents.of(known, patches, d)
            gaps = (X[block] - known[patches[:, 0]]) / found.units[:, None] - found.means
            inverse = np.where(found.spreads > 0, 1 / np.where(found.spreads > 0, found.spreads, 1), 0)
            along = (
                np.einsum("rpd,rp->rd", found.basis, np.einsum("rpm,rm->rp", found.rows, gaps)) * inverse**2
            )
            Y = self.Z[patches]
            Z[block] = Y.mean(axis=1) + np.einsum(
                "rpc,rp->rc", Y, np.einsum("rpd,rd->rp", found.basis, along)
            )
        return Z


# ---- Local methods restricted to linear functions of the features: the directions of least misfit ----


class AlignedDirections(NamedTuple):
    """Directions of least misfit."""

    mean: np.ndarray  # (m,)
    components: np.ndarray  # (d, m), zero beyond the rank
    eigenvalues: np.ndarray  # (d,) smallest first, zero beyond the rank
    n_separating: int


def aligned_directions(X: np.ndarray, operator: csr_array, n_components: int) -> AlignedDirections:
    """``X' M X a = lambda X' X a``, X centred, M the operator of a local method, 0 for constants.

    Solved in the basis of the singular vectors of X, so that collinear columns, or more columns than rows,
    are no case of their own. Every coordinate has the mean square 1. ``O(n m min(n, m))`` time beside M.
    """
    centred = CentredRows.of(X)
    spreads, axes = centred.axes()
    rank, n = len(spreads), len(X)
    count = min(n_components, rank)
    eigenvalues, n_separating, components = np.zeros(n_components), 0, axes[:0]
    if count:
        U = centred.rows @ (axes.T / spreads)
        values, vectors = eigenpairs_by_rank(U.T @ (operator @ U), 0, count - 1)
        eigenvalues[:count] = values
        components = (vectors / spreads[:, None]).T @ axes * (np.sqrt(n) / centred.unit)
        n_separating = count_still_coordinates(np.sqrt(n) * (U @ vectors), operator)
    if rank >= max(n - 1, 2):
        what = "the directions follow any function of these rows, and say nothing of new ones"
        warn(f"X has {n} rows and a rank of {rank}: {what}. Take more rows.", IsentropicWarning)
    components = padded_directions(components, n_components, f"X has a rank of {rank}")
    return AlignedDirections(centred.mean, components, eigenvalues, n_separating)
