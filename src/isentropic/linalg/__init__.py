"""Extreme eigenpairs without forming what need not be formed, and one rule for signs."""

from .additive import additive_constant, positive_scaling
from .blocks import sum_of_blocks
from .bottom import bottom_eigenpairs
from .eigen import eigenpairs_by_rank, generalized_eigenpairs, top_eigenpairs
from .filtered import leading_eigenvectors
from .krylov import block_eigenpairs
from .laplacians import normalized_adjacency
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
from .signs import fixed_signs
from .squares import bottom_squared_eigenpairs
from .units import ROOM, rows_in_unit, unit_exponent
from .walks import leading_eigenpairs, least_eigenvalue

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
