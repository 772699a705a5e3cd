"""Extreme eigenpairs without forming what need not be formed, and one rule for signs."""

from .additive import additive_constant, positive_scaling
from .bottom import bottom_eigenpairs, bottom_squared_eigenpairs
from .diffusion import leading_eigenpairs, leading_eigenvectors, least_eigenvalue
from .eigen import eigenpairs_by_rank, fixed_signs, generalized_eigenpairs, top_eigenpairs
from .graph_matrices import normalized_adjacency, sum_of_blocks
from .krylov import block_eigenpairs
from .procrustes import aligned, around_mean, procrustes_correlation, rotation
from .scaling import (
    Scaling,
    classical_scaling,
    euclidean_defect,
    laid_out,
    residual_variance,
    unexplained,
    warm_scaling,
)
from .units import ROOM, rows_in_unit, unit_exponent

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
