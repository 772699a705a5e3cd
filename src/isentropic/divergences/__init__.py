"""How far two distributions are apart: Gaussians in closed form, densities on a grid, patches of a graph."""

from .formulas import EDGE_DIVERGENCES
from .forms import FullForm, Gaussians, LowRankForm
from .gaussian import (
    bhattacharyya_coefficient,
    bhattacharyya_distance,
    cauchy_schwarz_divergence,
    fisher_rao_distance,
    gaussian_entropy,
    hellinger_distance,
    jeffreys_matusita_distance,
    kl_divergence,
    renyi_divergence,
    symmetrised_kl_divergence,
)
from .grids import grid_hellinger, grid_kl, grid_symmetrised_kl, total_variation

__all__ = [
    "EDGE_DIVERGENCES",
    "FullForm",
    "Gaussians",
    "LowRankForm",
    "bhattacharyya_coefficient",
    "bhattacharyya_distance",
    "cauchy_schwarz_divergence",
    "fisher_rao_distance",
    "gaussian_entropy",
    "grid_hellinger",
    "grid_kl",
    "grid_symmetrised_kl",
    "hellinger_distance",
    "jeffreys_matusita_distance",
    "kl_divergence",
    "renyi_divergence",
    "symmetrised_kl_divergence",
    "total_variation",
]
