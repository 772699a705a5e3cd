"""Extreme eigenpairs without forming what need not be formed, and one rule for signs."""

from .bottom import bottom_eigenpairs, bottom_squared_eigenpairs
from .centering import (
    ROOM,
    aligned,
    around_mean,
    procrustes_correlation,
    rotation,
    rows_in_unit,
    unit_exponent,
)
from .chebyshev import normalized_adjacency, sum_of_blocks
from .diffusion import leading_eigenpairs, leading_eigenvectors, least_eigenvalue
from .eigen import block_eigenpairs, eigenpairs_by_rank, fixed_signs, generalized_eigenpairs, top_eigenpairs
from .scaling import (
    Scaling,
    additive_constant,
    classical_scaling,
    euclidean_defect,
    flat_entries,
    positive_scaling,
    residual_variance,
    unexplained,
    warm_scaling,
)

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "ROOM",
    "Scaling",
    "additive_constant",
    "aligned",
    "bottom_eigenpairs",
    "classical_scaling",
    "euclidean_defect",
    "generalized_eigenpairs",
    "positive_scaling",
    "procrustes_correlation",
    "residual_variance",
    "top_eigenpairs",
]
