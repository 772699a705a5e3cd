"""Sparse factors of a positive definite matrix, and what they take before they are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from .._core.runtime import memory_budget

_BYTES = 24  # of an entry below the diagonal, in both factors
_SAVED = 10  # an order of minimum degree takes at most this share of the products that the band foretells


@dataclass(frozen=True, slots=True)
class Profile:
    """What the factors would take at most: those of a band, rows in the order of Cuthill and McKee, reversed.

    The order of the factors themselves is better, and what it takes is not known before.
    """

    n_bytes: int
    flops: float

    @classmethod
    def of(cls, A: csr_array) -> Profile:
        """``O(nnz)``, of a matrix with a symmetric pattern."""
        order = reverse_cuthill_mckee(A, symmetric_mode=True)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = place.copy()
        some = np.flatnonzero(np.diff(A.indptr))
        first[some] = np.minimum.reduceat(place[A.indices], A.indptr[some])
        widths = np.maximum(place - first, 0).astype(np.float64)
        return cls(_BYTES * int(widths.sum() + len(order)), float((widths**2).sum()) / _SAVED)

    @property
    def fits(self) -> bool:
        """Whether they are within the memory budget."""
        budget = memory_budget()
        return budget is None or self.n_bytes <= budget


def factored(matrix, shift: float):
    """Factors of ``matrix + shift I``, positive definite: no pivots, an order of minimum degree."""
    shifted = csc_array(matrix + shift * eye_array(matrix.shape[0], format="csc"))
    return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
