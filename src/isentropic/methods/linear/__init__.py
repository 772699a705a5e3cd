"""Linear maps and their kernels: PCA and its kin, ICA, LDA, NCA, random projections."""

from __future__ import annotations

from ..method import Method

_PEARSON = "Pearson (1901), On lines and planes of closest fit, Philosophical Magazine 2"
_LINDENSTRAUSS = "Johnson and Lindenstrauss (1984), Extensions of Lipschitz mappings, Contemporary Math. 26"
_TIPPING = "Tipping and Bishop (1999), Probabilistic principal component analysis, JRSS B 61"
_KWAK = "Kwak (2008), Principal component analysis based on L1-norm maximization, IEEE TPAMI 30"
_JOURNEE = "Journée and others (2010), Generalized power method for sparse PCA, JMLR 11"
_HYVAERINEN = "Hyvärinen (1999), Fast and robust fixed-point algorithms for ICA, IEEE Trans. Neural Netw. 10"
_BELL = "Bell and Sejnowski (1995), An information-maximization approach to blind separation, Neural Comp. 7"
_LU = "Lu, Plataniotis and Venetsanopoulos (2008), MPCA, IEEE Trans. Neural Networks 19"
_GOLDBERGER = "Goldberger and others (2005), Neighbourhood components analysis, NIPS 17"
_FISHER = "Fisher (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7"
_SCHOELKOPF = "Schölkopf, Smola and Müller (1998), Kernel principal component analysis, Neural Comp. 10"

METHODS = (
    Method("pca", "isentropic.methods.linear.pca:PCA", "Directions of largest variance.", "linear",
           "O(n m min(n, m)); O(n m)", _PEARSON, precomputed=False, preset="quick"),
    Method("random-projection", "isentropic.methods.linear.random_projection:RandomProjection",
           "Random directions: a baseline.", "linear", "O(n m d); O(n m)", _LINDENSTRAUSS,
           precomputed=False, draws_above=0),
    Method("probabilistic-pca", "isentropic.methods.linear.pca:ProbabilisticPCA",
           "PCA with a likelihood; accepts missing values.", "linear", "O(n m min(n, m)); O(n m)",
           _TIPPING, precomputed=False, figures=("log_likelihood_",)),
    Method("robust-pca", "isentropic.methods.linear.robust_pca:RobustPCA",
           "PCA by absolute deviations, or without outlying values.", "linear",
           "O(n m d); O(n m)", _KWAK, precomputed=False),
    Method("sparse-pca", "isentropic.methods.linear.pca:SparsePCA",
           "Directions of large variance made of few features.", "linear", "O(n m min(n, m)); O(n m)",
           _JOURNEE, precomputed=False, figures=("zeros_",)),
    Method("fast-ica", "isentropic.methods.linear.ica:FastICA",
           "Independent components that are as far from normal as possible.",
           "linear", "O(n m min(n, m)); O(n m)", _HYVAERINEN, precomputed=False),
    Method("infomax-ica", "isentropic.methods.linear.ica:InfomaxICA",
           "Independent components of maximum likelihood.", "linear", "O(n m min(n, m)); O(n m)", _BELL,
           precomputed=False),
    Method("multilinear-pca", "isentropic.methods.linear.multilinear_pca:MultilinearPCA",
           "PCA along each axis of rows that are images or other arrays.", "linear",
           "O(n m (P_1 + ... + P_N)); O(n m)", _LU, precomputed=False),
    Method("nca", "isentropic.methods.linear.nca:NCA", "A metric in which neighbours have the same class.",
           "linear", "O(n^2 m); O(n^2)", _GOLDBERGER, needs_y=True, precomputed=False, max_rows=5_000,
           figures=("expected_accuracy_",)),
    Method("lda", "isentropic.methods.linear.lda:LDA", "Directions that separate classes.", "linear",
           "O(n m min(n, m)); O(n m)", _FISHER, needs_y=True, precomputed=False, figures=("shrinkage_",)),
    Method("kernel-pca", "isentropic.methods.linear.kernel_pca:KernelPCA", "PCA in the space of a kernel.",
           "spectral", "O(n^2 m); O(n^2)", _SCHOELKOPF, precomputed=False, max_rows=20_000),
)  # fmt: skip
