"""Divergences of distributions: Gaussians in closed form, densities on a grid, patches of a graph."""

from .forms import FullForm, Gaussians, LowRankForm
from .gaussian_divergences import (
    EDGE_DIVERGENCES,
    bhattacharyya_coefficient,
    bhattacharyya_distance,
    cauchy_schwarz_divergence,
    fisher_rao_distance,
    gaussian_entropy,
    grid_hellinger,
    grid_kl,
    grid_symmetrised_kl,
    hellinger_distance,
    jeffreys_matusita_distance,
    kl_divergence,
    renyi_divergence,
    symmetrised_kl_divergence,
    total_variation,
)
from .kernel_densities import (
    BANDWIDTHS,
    bandwidth_floors,
    checked_bandwidth,
    density_unit,
    kde_divergences,
)
from .patches import (
    REGULARIZATIONS,
    Patches,
    RowProducts,
    cheapest_form,
    checked_regularization,
    checked_weights,
    noise_floor,
    patch_gaussians,
    patch_members,
    reweighted,
)

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
