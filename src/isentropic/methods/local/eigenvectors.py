"""Coordinates of local methods: bottom eigenvectors of an operator that ties neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...embedding.packed_components import block, rows_of_parts, side_by_side
from ...linalg import bottom_eigenpairs, bottom_squared_eigenpairs
from ...linalg.eigen import eigengap, padded, standing_still


def bottom_coordinates(
    operator: csr_array, n_components: int, parts: np.ndarray | None = None, *, squared: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """The bottom eigenvectors of the operator, or of its square ``A'A``, each of mean square 1; and figures.

    The constant one is left out. Where there are ``parts``, each row's, each part has its own eigenvectors,
    and the figures are those of the first, the largest.
    """
    members = [np.arange(operator.shape[0])] if parts is None else rows_of_parts(parts)
    blocks = [block(operator, rows) for rows in members]
    pairs = [_bottom(one, n_components, squared) for one in blocks]
    values, Z = pairs[0]
    count = Z.shape[1]
    results = {
        "eigenvalues_": padded(values[:count], n_components),
        "eigengap_": eigengap(values, count),
        "n_separating_": standing_still(Z, blocks[0]),
    }
    if len(members) > 1:
        wide = [np.pad(one, ((0, 0), (0, n_components - one.shape[1]))) for _, one in pairs]
        Z = side_by_side(wide, members)
    return Z, results


def _bottom(operator: csr_array, n_components: int, squared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, one more than coordinates if there is one, and these, as many as there are."""
    n = operator.shape[0]
    count = min(n_components, n - 1)
    eigenpairs = bottom_squared_eigenpairs if squared else bottom_eigenpairs
    values, vectors = eigenpairs(operator, min(count + 1, n - 1), known=np.ones(n))
    return values, np.sqrt(n) * vectors[:, :count]
