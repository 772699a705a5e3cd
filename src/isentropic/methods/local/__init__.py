"""Local linear patches, aligned: LLE and LTSA kinds, NPE, maximum variance unfolding."""

from __future__ import annotations

from ..method import Method

_HE_CAI = "He, Cai, Yan and Zhang (2005), Neighborhood preserving embedding, ICCV 2005"
_ZHANG_YANG = "Zhang, Yang, Zhao and Ge (2007), Linear local tangent space alignment, Neurocomputing 70"
_ROWEIS = "Roweis and Saul (2000), Nonlinear dimensionality reduction by LLE, Science 290"
_RIDDER = "de Ridder and others (2003), Supervised locally linear embedding, ICANN 2003"
_ZHANG_SQ = "Zhang (2009), Enhanced supervised locally linear embedding, Pattern Recognition Letters 30"
_CLASSES = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.1"
_ZHANG_WANG = "Zhang and Wang (2007), MLLE: modified LLE using multiple weights, NIPS 19"
_DONOHO = "Donoho and Grimes (2003), Hessian eigenmaps, PNAS 100"
_ZHANG_ZHA = "Zhang and Zha (2004), Principal manifolds via tangent space alignment, SIAM J. Sci. Comp. 26"
_WEINBERGER = "Weinberger and Saul (2006), Unsupervised learning of image manifolds by SDP, IJCV 70"

METHODS = (
    Method("npe", "isentropic.methods.local.npe:NPE",
           "Linear projection that preserves local reconstruction weights.",
           "linear", "O(n k^2 (k + m) + n m min(n, m)); O(n (m + k^2))", _HE_CAI, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("linear-ltsa", "isentropic.methods.local.npe:LinearLTSA",
           "Linear projection that aligns local tangent spaces.", "linear",
           "O(n k^2 (k + m) + n m min(n, m)); O(n (m + k^2))", _ZHANG_YANG, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("lle", "isentropic.methods.local.lle:LLE",
           "Preserves the weights that reconstruct rows from neighbours.",
           "spectral", "O(n k^2 (k + m)); O(n k^2)", _ROWEIS, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE that prefers neighbours of the same class.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _RIDDER, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("enhanced-slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE by dissimilarities that separate the classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_SQ, params={"dissimilarity": "dis1"}, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("stochastic-slle", "isentropic.methods.local.supervised_lle:SupervisedLLE",
           "LLE by distances and divergences between classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _CLASSES, params={"dissimilarity": "divergence"}, needs_y=True, precomputed=False,
           max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("modified-lle", "isentropic.methods.local.lle:ModifiedLLE",
           "Preserves several sets of reconstruction weights.", "spectral",
           "O(n k^2 (k + m)); O(n k^2)", _ZHANG_WANG, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("hessian-lle", "isentropic.methods.local.lle:HessianLLE",
           "Coordinates of least curvature along the surface.", "spectral",
           "O(n k (d^4 + k (k + m))); O(n k^2)", _DONOHO, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("ltsa", "isentropic.methods.local.ltsa:LTSA",
           "Aligns the tangent coordinates of all neighbourhoods.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_ZHA, precomputed=False, max_rows=200_000, figures=("eigengap_", "n_separating_")),
    Method("mvu", "isentropic.methods.local.mvu:MVU",
           "Maximises the variance while local distances are preserved.", "geodesic",
           "O(n^2 (k + log n) + n k^2 t); O(n^2)", _WEINBERGER, precomputed=False, max_rows=50_000,
           figures=("variance_share_", "violation_")),
)  # fmt: skip
