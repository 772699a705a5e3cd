"""Methods whose coordinates are eigenvectors of a graph, of patches or of a kernel."""

from __future__ import annotations

from .kinds import Method

_HE = "He and Niyogi (2003), Locality preserving projections, NIPS 16"
_ROWEIS = "Roweis and Saul (2000), Nonlinear dimensionality reduction by LLE, Science 290"
_ZHANG_WANG = "Zhang and Wang (2007), MLLE: modified LLE using multiple weights, NIPS 19"
_DONOHO = "Donoho and Grimes (2003), Hessian eigenmaps, PNAS 100"
_ZHANG_ZHA = "Zhang and Zha (2004), Principal manifolds via tangent space alignment, SIAM J. Sci. Comp. 26"
_BELKIN = "Belkin and Niyogi (2003), Laplacian eigenmaps for dimensionality reduction, Neural Comp. 15"
_COIFMAN = "Coifman and Lafon (2006), Diffusion maps, Applied and Computational Harmonic Analysis 21"
_SCHOELKOPF = "Schölkopf, Smola and Müller (1998), Kernel principal component analysis, Neural Comp. 10"
_RIDDER = "de Ridder and others (2003), Supervised locally linear embedding, ICANN 2003"
_ZHANG_SQ = "Zhang (2009), Enhanced supervised locally linear embedding, Pattern Recognition Letters 30"
_CLASSES = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.1"
_RADUCANU = "Raducanu and Dornaika (2012), A supervised non-linear DR approach, Pattern Recognition 45"
_HAJDERANJ = "Hajderanj (2022), thesis, chapter 6"

SPECTRAL = (
    Method("kernel-pca", "isentropic.methods.linear.kernel_pca:KernelPCA", "PCA in the space of a kernel.",
           "spectral", "O(n^2 m); O(n^2)", _SCHOELKOPF, precomputed=False, max_rows=20_000),
    Method("kernel-lpp", "isentropic.methods.spectral.kernel_lpp:KernelLPP",
           "Functions in the space of a kernel that change least between neighbours.", "spectral",
           "O(n^3); O(n^2)", _HE, precomputed=False, max_rows=5_000, figures=("rank_", "n_separating_")),
    Method("lle", "isentropic.methods.local.lle:LLE", "Rows are the same sums of neighbours in data and map.",
           "spectral", "O(n k^2 (k + m)); O(n k^2)", _ROWEIS, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE whose neighbours are of the own class first.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _RIDDER, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("enhanced-slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE by dissimilarities that part the classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_SQ, params={"dissimilarity": "dis1"}, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("stochastic-slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE by distances and divergences between classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _CLASSES, params={"dissimilarity": "divergence"}, needs_y=True, precomputed=False,
           max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("modified-lle", "isentropic.methods.local.modified_lle:ModifiedLLE",
           "Rows are several sums of neighbours, the same in data and map.", "spectral",
           "O(n k^2 (k + m)); O(n k^2)", _ZHANG_WANG, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("hessian-lle", "isentropic.methods.local.hessian_lle:HessianLLE",
           "Coordinates of least curvature along the sheet.", "spectral",
           "O(n k (d^4 + k (k + m))); O(n k^2)", _DONOHO, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("ltsa", "isentropic.methods.local.ltsa:LTSA",
           "Tangent coordinates of all neighbourhoods, aligned.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_ZHA, precomputed=False, max_rows=200_000, figures=("eigengap_", "n_separating_")),
    Method("laplacian-eigenmaps", "isentropic.methods.spectral.laplacian_eigenmaps:LaplacianEigenmaps",
           "Coordinates that change least between neighbours.", "spectral", "O(n (k + m) log n); O(n k)",
           _BELKIN, precomputed=False, figures=("n_separating_",)),
    Method("supervised-le", "isentropic.methods.spectral.supervised_le:SupervisedLE",
           "Near rows of a class together, of other classes apart.", "spectral", "O(n^2 m); O(n^2)",
           _RADUCANU, needs_y=True, precomputed=False, max_rows=10_000, figures=("peak_",)),
    Method("dissimilarity-le", "isentropic.methods.spectral.dissimilarity_le:DissimilarityLE",
           "Laplacian eigenmaps by dissimilarities that part the classes.", "spectral",
           "O(n^2 m); O(n (k + m))", _HAJDERANJ, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("n_separating_",)),
    Method("stochastic-le", "isentropic.methods.spectral.stochastic_le:StochasticLE",
           "Laplacian eigenmaps with weaker edges between classes.", "spectral",
           "O(n (k + m) log n + c min(n, m)^3); O(n k + c min(n, m)^2)", _CLASSES, needs_y=True,
           precomputed=False, figures=("n_separating_",)),
    Method("diffusion-maps", "isentropic.methods.spectral.diffusion_maps:DiffusionMaps",
           "Distances are how differently random walks spread.", "spectral", "O(n (k + m) log n); O(n k)",
           _COIFMAN, precomputed=False, figures=("left_out_", "n_separating_")),
)  # fmt: skip
