"""Eigenvectors of a graph Laplacian: eigenmaps, diffusion maps, LPP kinds."""

from __future__ import annotations

from ..method import Method

_HE = "He and Niyogi (2003), Locality preserving projections, NIPS 16"
_NIE = "Nie, Wang and Huang (2014), Clustering and projected clustering with adaptive neighbors, KDD 20"
_PNN = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.4"
_BELKIN = "Belkin and Niyogi (2003), Laplacian eigenmaps for dimensionality reduction, Neural Comp. 15"
_RADUCANU = "Raducanu and Dornaika (2012), A supervised non-linear DR approach, Pattern Recognition 45"
_HAJDERANJ = "Hajderanj (2022), thesis, chapter 6"
_CLASSES = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.1"
_COIFMAN = "Coifman and Lafon (2006), Diffusion maps, Applied and Computational Harmonic Analysis 21"

METHODS = (
    Method("lpp", "isentropic.methods.spectral.lpp:LPP",
           "Linear projection that keeps neighbours close.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _HE, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("can-lpp", "isentropic.methods.spectral.lpp:LPP", "LPP with adaptive neighbours.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _NIE, params={"neighbors": "can"}, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("pnn-lpp", "isentropic.methods.spectral.lpp:LPP",
           "LPP with probabilistic nearest neighbours.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _PNN, params={"neighbors": "pnn"}, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("kernel-lpp", "isentropic.methods.spectral.lpp:KernelLPP",
           "LPP in the feature space of a kernel.", "spectral",
           "O(n^3); O(n^2)", _HE, precomputed=False, max_rows=5_000, figures=("rank_", "n_separating_")),
    Method("laplacian-eigenmaps", "isentropic.methods.spectral.laplacian_eigenmaps:LaplacianEigenmaps",
           "Coordinates that change least between neighbours.", "spectral", "O(n (k + m) log n); O(n k)",
           _BELKIN, precomputed=False, figures=("n_separating_",)),
    Method("supervised-le", "isentropic.methods.spectral.supervised_le:SupervisedLE",
           "Laplacian eigenmaps that separate classes.", "spectral", "O(n^2 m); O(n^2)",
           _RADUCANU, needs_y=True, precomputed=False, max_rows=10_000, figures=("peak_",)),
    Method("dissimilarity-le", "isentropic.methods.spectral.laplacian_eigenmaps:DissimilarityLE",
           "Laplacian eigenmaps by dissimilarities that know classes.", "spectral",
           "O(n^2 m); O(n (k + m))", _HAJDERANJ, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("n_separating_",)),
    Method("stochastic-le", "isentropic.methods.spectral.stochastic_le:StochasticLE",
           "Laplacian eigenmaps with weaker edges between classes.", "spectral",
           "O(n (k + m) log n + c min(n, m)^3); O(n k + c min(n, m)^2)", _CLASSES, needs_y=True,
           precomputed=False, figures=("n_separating_",)),
    Method("diffusion-maps", "isentropic.methods.spectral.diffusion_maps:DiffusionMaps",
           "Distances compare how random walks spread from rows.", "spectral", "O(n (k + m) log n); O(n k)",
           _COIFMAN, precomputed=False, figures=("left_out_", "n_separating_")),
)  # fmt: skip
