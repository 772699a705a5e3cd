"""How far two distributions are apart: Gaussians in closed form, densities on a grid, patches of a graph."""

from .compared_patches import Patches
from .forms import FullForm, Gaussians, LowRankForm
from .formulas import EDGE_DIVERGENCES
from .gaussian_divergences import (
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
from .kernel_densities import (
    BANDWIDTHS,
    bandwidth_floors,
    checked_bandwidth,
    density_unit,
    kde_divergences,
)
from .patches import RowProducts, cheapest_form, patch_gaussians, patch_members
from .regularization import REGULARIZATIONS, checked_regularization, noise_floor
from .weights import checked_weights, reweighted

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "BANDWIDTHS",
    "EDGE_DIVERGENCES",
    "FullForm",
    "Gaussians",
    "LowRankForm",
    "REGULARIZATIONS",
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
    "patch_gaussians",
    "patch_members",
    "renyi_divergence",
    "symmetrised_kl_divergence",
    "total_variation",
]
