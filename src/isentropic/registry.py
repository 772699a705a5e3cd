"""Every family and every method, one line each: what is said of them anywhere derives from here.

Public names, presets, the command line, the report, the docs and the contract tests do. Third parties add
methods through the entry-point group ``isentropic.methods``: each entry point names a :class:`Method`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from ._catalogue import FAMILIES, Family, Method, family_of
from ._errors import InvalidInputError, IsentropicWarning, nearest, require_one_of
from ._extras import require_extra
from ._values import Geodesic

__all__ = ["FAMILIES", "METHODS", "Family", "Method", "family_of", "make", "methods_table"]

_TENENBAUM = "Tenenbaum, de Silva and Langford (2000), A global geometric framework, Science 290"
_HE = "He and Niyogi (2003), Locality preserving projections, NIPS 16"
_HE_CAI = "He, Cai, Yan and Zhang (2005), Neighborhood preserving embedding, ICCV 2005"
_ZHANG_YANG = "Zhang, Yang, Zhao and Ge (2007), Linear local tangent space alignment, Neurocomputing 70"
_ROWEIS = "Roweis and Saul (2000), Nonlinear dimensionality reduction by LLE, Science 290"
_WEINBERGER = "Weinberger and Saul (2006), Unsupervised learning of image manifolds by SDP, IJCV 70"
_ZHANG_WANG = "Zhang and Wang (2007), MLLE: modified LLE using multiple weights, NIPS 19"
_DONOHO = "Donoho and Grimes (2003), Hessian eigenmaps, PNAS 100"
_ZHANG_ZHA = "Zhang and Zha (2004), Principal manifolds via tangent space alignment, SIAM J. Sci. Comp. 26"
_BELKIN = "Belkin and Niyogi (2003), Laplacian eigenmaps for dimensionality reduction, Neural Comp. 15"
_COIFMAN = "Coifman and Lafon (2006), Diffusion maps, Applied and Computational Harmonic Analysis 21"
_NIE = "Nie, Wang and Huang (2014), Clustering and projected clustering with adaptive neighbors, KDD 20"
_TORGERSON = "Torgerson (1952), Multidimensional scaling I: theory and method, Psychometrika 17"
_LANDMARK = "de Silva and Tenenbaum (2003), Global versus local methods, NIPS 15"
_CHOI = "Choi and Choi (2007), Robust kernel Isomap, Pattern Recognition 40"
_CERVATI = "Cervati Neto and Levada (2020), ISOMAP-KL: a parametric approach for unsupervised metric learning"
_KDE = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.5"
_PNN = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.4"
_CERVATI_NETO = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.3"
_HAJDERANJ_2019 = "Hajderanj, Weheliye and Chen (2019), A new supervised t-SNE with dissimilarity measure"
_HAJDERANJ = "Hajderanj, Chen, Grisan and Dudley (2020), Single- and multi-distribution DR, IEEE Access 8"
_ESPADOTO = "Espadoto, Hirata and Telea (2020), Deep learning multidimensional projections, Inf. Vis. 19"
_MAATEN = "van der Maaten and Hinton (2008), Visualizing data using t-SNE, JMLR 9"
_HINTON = "Hinton and Roweis (2002), Stochastic neighbor embedding, NIPS 15"
_LEE = "Lee, Peluffo-Ordóñez and Verleysen (2015), Multi-scale similarities in SNE, Neurocomputing 169"
_DE_BODT = "de Bodt, Mulders, Verleysen and Lee (2018), Perplexity-free t-SNE, ESANN 2018"
_ZHOU = "Zhou and Sharpee (2018), Using global t-SNE to preserve inter-cluster data structure, bioRxiv"
_MCINNES = "McInnes, Healy and Melville (2018), UMAP: uniform manifold approximation, arXiv 1802.03426"
_WANG = "Wang, Huang, Rudin and Shaposhnik (2021), Understanding how DR tools work, JMLR 22"
_AMID = (
    "Amid and Warmuth (2019), TriMap: large-scale dimensionality reduction using triplets, arXiv 1910.00204"
)
_TIPPING = "Tipping and Bishop (1999), Probabilistic principal component analysis, JRSS B 61"
_LINDENSTRAUSS = "Johnson and Lindenstrauss (1984), Extensions of Lipschitz mappings, Contemporary Math. 26"
_SCHOELKOPF = "Schölkopf, Smola and Müller (1998), Kernel principal component analysis, Neural Comp. 10"
_FISHER = "Fisher (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7"
_KWAK = "Kwak (2008), Principal component analysis based on L1-norm maximization, IEEE TPAMI 30"
_JOURNEE = "Journée and others (2010), Generalized power method for sparse PCA, JMLR 11"
_HYVAERINEN = "Hyvärinen (1999), Fast and robust fixed-point algorithms for ICA, IEEE Trans. Neural Netw. 10"
_BELL = "Bell and Sejnowski (1995), An information-maximization approach to blind separation, Neural Comp. 7"
_LU = "Lu, Plataniotis and Venetsanopoulos (2008), MPCA, IEEE Trans. Neural Networks 19"
_GOLDBERGER = "Goldberger and others (2005), Neighbourhood components analysis, NIPS 17"
_KOHONEN = "Kohonen (1982), Self-organized formation of topologically correct maps, Biol. Cybernetics 43"
_BISHOP = "Bishop, Svensén and Williams (1998), GTM: the generative topographic mapping, Neural Comp. 10"
_GENG = "Geng, Zhan and Zhou (2005), Supervised nonlinear dimensionality reduction, IEEE Trans. SMC B 35"
_VLACHOS = "Vlachos and others (2002), Non-linear DR techniques for classification, KDD 8"
_RIDDER = "de Ridder and others (2003), Supervised locally linear embedding, ICANN 2003"
_ZHANG_SQ = "Zhang (2009), Enhanced supervised locally linear embedding, Pattern Recognition Letters 30"
_CLASSES = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.1"
_RADUCANU = "Raducanu and Dornaika (2012), A supervised non-linear DR approach, Pattern Recognition 45"
_KRUSKAL = "Kruskal (1964), Multidimensional scaling by optimizing goodness of fit, Psychometrika 29"
_MCGEE = "McGee (1966), The multidimensional analysis of elastic distances, Brit. J. Math. Stat. Psych. 19"
_SAMMON = "Sammon (1969), A nonlinear mapping for data structure analysis, IEEE Trans. Computers 18"
_YANG = "Yang (2004), Sammon's nonlinear mapping using geodesic distances, ICPR 17"
_DEMARTINES = "Demartines and Hérault (1997), Curvilinear component analysis, IEEE Trans. Neural Networks 8"
_LENDASSE = (
    "Lee, Lendasse and Verleysen (2004), Nonlinear projection with curvilinear distances, Neurocomputing 57"
)
_LESPINATS = "Lespinats, Verleysen, Giron and Fertil (2007), DD-HDS, IEEE Trans. Neural Networks 18"
_VILLEMAIN = "Lespinats, Fertil, Villemain and Hérault (2009), RankVisu, Neurocomputing 72"
_GASHLER = "Gashler, Ventura and Martinez (2007), Iterative non-linear DR with manifold sculpting, NIPS 20"
_ROSMAN = "Rosman and others (2010), Nonlinear dimensionality reduction by TCIE, Int. J. Comp. Vision 89"
_VENNA = "Venna and Kaski (2006), Local multidimensional scaling, Neural Networks 19"
_PEARSON = "Pearson (1901), On lines and planes of closest fit, Philosophical Magazine 2"

_BUILT_IN = (
    Method("pca", "isentropic.methods.pca:PCA", "Directions of largest variance.", "linear",
           "O(n m min(n, m)); O(n m)", _PEARSON, precomputed=False, preset="quick"),
    Method("lpp", "isentropic.methods.lpp:LPP", "Directions along which neighbours stay close.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _HE, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("npe", "isentropic.methods.npe:NPE", "Directions that keep rows the sums of their neighbours.",
           "linear", "O(n k^2 (k + m) + n m min(n, m)); O(n (m + k^2))", _HE_CAI, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("linear-ltsa", "isentropic.methods.linear_ltsa:LinearLTSA",
           "Directions that agree with the tangents of all neighbourhoods.", "linear",
           "O(n k^2 (k + m) + n m min(n, m)); O(n (m + k^2))", _ZHANG_YANG, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("can-lpp", "isentropic.methods.lpp:LPP", "LPP with adaptive neighbours.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _NIE, params={"neighbors": "can"}, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("pnn-lpp", "isentropic.methods.lpp:LPP", "LPP with probabilistic nearest neighbours.", "linear",
           "O(n m min(n, m)); O(n (m + k))", _PNN, params={"neighbors": "pnn"}, precomputed=False,
           figures=("eigenvalues_", "n_separating_")),
    Method("random-projection", "isentropic.methods.random_projection:RandomProjection",
           "Directions drawn at random: a baseline.", "linear", "O(n m d); O(n m)", _LINDENSTRAUSS,
           precomputed=False, draws_above=0),
    Method("probabilistic-pca", "isentropic.methods.probabilistic_pca:ProbabilisticPCA",
           "PCA with a likelihood, also of a table with holes.", "linear", "O(n m min(n, m)); O(n m)",
           _TIPPING, precomputed=False, figures=("log_likelihood_",)),
    Method("robust-pca", "isentropic.methods.robust_pca:RobustPCA",
           "Directions of largest absolute deviation, or of a table without odd values.", "linear",
           "O(n m d); O(n m)", _KWAK, precomputed=False),
    Method("sparse-pca", "isentropic.methods.sparse_pca:SparsePCA",
           "Directions of large variance that few features make up.", "linear", "O(n m min(n, m)); O(n m)",
           _JOURNEE, precomputed=False, figures=("zeros_",)),
    Method("fast-ica", "isentropic.methods.fast_ica:FastICA", "Coordinates as far from normal as can be.",
           "linear", "O(n m min(n, m)); O(n m)", _HYVAERINEN, precomputed=False),
    Method("infomax-ica", "isentropic.methods.infomax_ica:InfomaxICA",
           "Independent coordinates of maximum likelihood.", "linear", "O(n m min(n, m)); O(n m)", _BELL,
           precomputed=False),
    Method("multilinear-pca", "isentropic.methods.multilinear_pca:MultilinearPCA",
           "PCA along each axis of rows that are images or other arrays.", "linear",
           "O(n m (P_1 + ... + P_N)); O(n m)", _LU, precomputed=False),
    Method("nca", "isentropic.methods.nca:NCA", "A metric in which a row's neighbours have its class.",
           "linear", "O(n^2 m); O(n^2)", _GOLDBERGER, needs_y=True, precomputed=False, max_rows=5_000,
           figures=("expected_accuracy_",)),
    Method("lda", "isentropic.methods.lda:LDA", "Directions along which classes lie apart.", "linear",
           "O(n m min(n, m)); O(n m)", _FISHER, needs_y=True, precomputed=False, figures=("shrinkage_",)),
    Method("kernel-pca", "isentropic.methods.kernel_pca:KernelPCA", "PCA in the space of a kernel.",
           "spectral", "O(n^2 m); O(n^2)", _SCHOELKOPF, precomputed=False, max_rows=20_000),
    Method("kernel-lpp", "isentropic.methods.kernel_lpp:KernelLPP",
           "Functions in the space of a kernel that change least between neighbours.", "spectral",
           "O(n^3); O(n^2)", _HE, precomputed=False, max_rows=5_000, figures=("rank_", "n_separating_")),
    Method("classical-mds", "isentropic.methods.classical_mds:ClassicalMDS",
           "Coordinates whose distances match the given ones.", "stress", "O(n^2 d); O(n^2)", _TORGERSON,
           max_rows=40_000, preset="quick"),
    Method("landmark-mds", "isentropic.methods.classical_mds:ClassicalMDS",
           "Classical MDS through landmarks.", "stress", "O(l n m); O(l n)", _LANDMARK,
           params={"n_landmarks": 500}),
    Method("metric-mds", "isentropic.methods.metric_mds:MetricMDS",
           "Distances are those of the data, by least squares.", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000),
    Method("elastic-scaling", "isentropic.methods.metric_mds:MetricMDS",
           "Metric MDS of relative errors: near distances count as much as far ones.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _MCGEE, params={"power": 2.0}, out_of_sample="optimised",
           draws_above=8_000),
    Method("nonmetric-mds", "isentropic.methods.nonmetric_mds:NonmetricMDS",
           "Distances are in the order of those of the data.", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000, figures=("stress_",)),
    Method("local-mds", "isentropic.methods.local_mds:LocalMDS",
           "Distances of neighbours, in the data or in the map, are kept.", "stress", "O(n^2); O(n^2)",
           _VENNA, out_of_sample="optimised", max_rows=10_000),
    Method("sammon", "isentropic.methods.sammon:Sammon",
           "Distances are those of the data, near ones above all.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _SAMMON, out_of_sample="optimised", draws_above=8_000),
    Method("geodesic-sammon", "isentropic.methods.sammon:Sammon", "Sammon's mapping of geodesic distances.",
           "geodesic", "O(n^2 (k + log n)); O(n^2)", _YANG, params={"metric": Geodesic()},
           out_of_sample="optimised", precomputed=False, max_rows=40_000, draws_above=10_000,
           figures=("cost_",)),
    Method("cca", "isentropic.methods.curvilinear_component_analysis:CurvilinearComponentAnalysis",
           "Distances are kept between rows near in the map; the rest may tear.", "unfolding",
           "O(n min(n, s)); O(n min(n, s))", _DEMARTINES, out_of_sample="optimised", draws_above=8_000),
    Method("cda", "isentropic.methods.curvilinear_component_analysis:CurvilinearComponentAnalysis",
           "CCA of geodesic distances: unrolls rather than tears.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _LENDASSE, params={"metric": Geodesic()},
           out_of_sample="optimised", precomputed=False, max_rows=20_000, draws_above=10_000,
           figures=("cost_", "radius_")),
    Method("dd-hds", "isentropic.methods.dd_hds:DDHDS",
           "Short distances first, short in the data or in the map.", "unfolding",
           "O(n min(n, s)); O(n min(n, s))", _LESPINATS, out_of_sample="optimised", draws_above=8_000),
    Method("rankvisu", "isentropic.methods.rank_visu:RankVisu", "Neighbours keep their ranks.", "unfolding",
           "O(n^2 log n); O(n^2)", _VILLEMAIN, out_of_sample="optimised", max_rows=10_000,
           figures=("start_cost_",)),
    Method("manifold-sculpting", "isentropic.methods.manifold_sculpting:ManifoldSculpting",
           "Lengths and angles of neighbourhoods, while axes shrink; not reliable.", "unfolding",
           "O(n k m); O(n (m + k))", _GASHLER, out_of_sample="optimised", precomputed=False, draws_above=0,
           max_rows=5_000),
    Method("tcie", "isentropic.methods.tcie:TCIE",
           "Geodesic distances, but for paths that a hole or an edge bends.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _ROSMAN, out_of_sample="optimised", max_rows=10_000,
           figures=("cost_", "kept_")),
    Method("isomap", "isentropic.methods.isomap:Isomap", "Classical MDS of geodesic distances.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _TENENBAUM, max_rows=40_000, draws_above=10_000, preset="quick"),
    Method("landmark-isomap", "isentropic.methods.isomap:Isomap", "ISOMAP through landmarks.", "geodesic",
           "O(l n (k + log n)); O(l n)", _LANDMARK, params={"n_landmarks": 500}, draws_above=10_000,
           preset="quick"),
    Method("c-isomap", "isentropic.methods.isomap:Isomap",
           "ISOMAP with edges measured by the density around them.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _LANDMARK, params={"conformal": True}, max_rows=40_000,
           draws_above=10_000),
    Method("kernel-isomap", "isentropic.methods.isomap:Isomap",
           "ISOMAP with a constant that makes its distances Euclidean.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _CHOI, params={"positive": True}, max_rows=10_000,
           draws_above=10_000),
    Method("entropic-isomap", "isentropic.methods.entropic_isomap:EntropicIsomap",
           "ISOMAP over divergences between Gaussian patches.", "geodesic",
           "O(n^2 (k + log n) + n k m^2); O(n^2 + n m^2)", _CERVATI, precomputed=False, max_rows=40_000,
           draws_above=10_000, preset="quick"),
    Method("kde-isomap", "isentropic.methods.kde_isomap:KDEIsomap",
           "ISOMAP over divergences between densities of patches.", "geodesic",
           "O(n^2 (N + log n) + n N m L); O(n^2 + n L)", _KDE, precomputed=False, max_rows=40_000),
    Method("mvu", "isentropic.methods.mvu:MVU",
           "As far apart as distances within neighbourhoods allow.", "geodesic",
           "O(n^2 (k + log n) + n k^2 t); O(n^2)", _WEINBERGER, precomputed=False, max_rows=50_000,
           figures=("kept_", "violation_")),
    Method("es-isomap", "isentropic.methods.supervised_isomap:SupervisedIsomap",
           "ISOMAP over dissimilarities that part the classes.", "geodesic", "O(n^2 (k + log n)); O(n^2)",
           _GENG, needs_y=True, max_rows=40_000),
    Method("weighted-isomap", "isentropic.methods.supervised_isomap:SupervisedIsomap",
           "ISOMAP with shorter distances within classes.", "geodesic", "O(n^2 (k + log n)); O(n^2)",
           _VLACHOS, params={"dissimilarity": "dis2"}, needs_y=True, max_rows=40_000),
    Method("class-isomap", "isentropic.methods.class_isomap:ClassIsomap",
           "ISOMAP of geodesics and divergences between classes.", "geodesic",
           "O(n^2 (k + log n) + c m^3); O(n^2 + c m^2)", _CLASSES, needs_y=True, precomputed=False,
           max_rows=40_000, draws_above=10_000),
    Method("lle", "isentropic.methods.lle:LLE", "Rows are the same sums of neighbours in data and map.",
           "spectral", "O(n k^2 (k + m)); O(n k^2)", _ROWEIS, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("slle", "isentropic.methods.supervised_lle:SupervisedLLE",
           "LLE whose neighbours are of the own class first.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _RIDDER, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("enhanced-slle", "isentropic.methods.supervised_lle:SupervisedLLE",
           "LLE by dissimilarities that part the classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_SQ, params={"dissimilarity": "dis1"}, needs_y=True, precomputed=False, max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("stochastic-slle", "isentropic.methods.supervised_lle:SupervisedLLE",
           "LLE by distances and divergences between classes.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _CLASSES, params={"dissimilarity": "divergence"}, needs_y=True, precomputed=False,
           max_rows=50_000,
           figures=("crossing_", "n_separating_")),
    Method("modified-lle", "isentropic.methods.modified_lle:ModifiedLLE",
           "Rows are several sums of neighbours, the same in data and map.", "spectral",
           "O(n k^2 (k + m)); O(n k^2)", _ZHANG_WANG, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("hessian-lle", "isentropic.methods.hessian_lle:HessianLLE",
           "Coordinates of least curvature along the sheet.", "spectral",
           "O(n k (d^4 + k (k + m))); O(n k^2)", _DONOHO, precomputed=False, max_rows=200_000,
           figures=("eigengap_", "n_separating_")),
    Method("ltsa", "isentropic.methods.ltsa:LTSA",
           "Tangent coordinates of all neighbourhoods, aligned.", "spectral", "O(n k^2 (k + m)); O(n k^2)",
           _ZHANG_ZHA, precomputed=False, max_rows=200_000, figures=("eigengap_", "n_separating_")),
    Method("laplacian-eigenmaps", "isentropic.methods.laplacian_eigenmaps:LaplacianEigenmaps",
           "Coordinates that change least between neighbours.", "spectral", "O(n (k + m) log n); O(n k)",
           _BELKIN, precomputed=False, figures=("n_separating_",)),
    Method("supervised-le", "isentropic.methods.supervised_le:SupervisedLE",
           "Near rows of a class together, of other classes apart.", "spectral", "O(n^2 m); O(n^2)",
           _RADUCANU, needs_y=True, precomputed=False, max_rows=10_000, figures=("peak_",)),
    Method("stochastic-le", "isentropic.methods.stochastic_le:StochasticLE",
           "Laplacian eigenmaps with weaker edges between classes.", "spectral",
           "O(n (k + m) log n + c m^3); O(n k + c m^2)", _CLASSES, needs_y=True, precomputed=False,
           figures=("n_separating_",)),
    Method("diffusion-maps", "isentropic.methods.diffusion_maps:DiffusionMaps",
           "Distances are how differently random walks spread.", "spectral", "O(n (k + m) log n); O(n k)",
           _COIFMAN, precomputed=False, figures=("left_out_", "n_separating_")),
    Method("sdd", "isentropic.methods.sdd:SDD", "Similarities of one degree, chosen by tau, in data and map.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, preset="standard", figures=("degree_",)),
    Method("multi-sdd", "isentropic.methods.multi_sdd:MultiSDD", "Similarities of several degrees at once.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, figures=("degree_", "degrees_", "selected_")),
    Method("parameter-free-sdd", "isentropic.methods.parameter_free_sdd:ParameterFreeSDD",
           "Similarities of degree 1: distances keep their order.", "pairs", "O(n min(n, s)); O(n min(n, s))",
           _HAJDERANJ, out_of_sample="optimised", draws_above=8_000, preset="quick"),
    Method("t-sne", "isentropic.methods.tsne:TSNE", "Near rows stay near: affinities as Student weights.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _MAATEN, out_of_sample="optimised",
           draws_above=10_000, preset="standard", figures=("kl_divergence_",)),
    Method("multiscale-t-sne", "isentropic.methods.multiscale_tsne:MultiscaleTSNE",
           "Student weights for neighbourhoods of all sizes.", "neighbours", "O(n^2 log n); O(n^2)", _DE_BODT,
           out_of_sample="optimised", max_rows=10_000, preset="standard", figures=("kl_divergence_",)),
    Method("sne", "isentropic.methods.sne:SNE", "Near rows stay near, by Gaussian weights.", "neighbours",
           "O(n^2); O(n^2)", _HINTON, out_of_sample="optimised", max_rows=10_000,
           figures=("kl_divergence_",)),
    Method("multiscale-sne", "isentropic.methods.multiscale_sne:MultiscaleSNE",
           "Gaussian weights for neighbourhoods of all sizes.", "neighbours", "O(n^2 log n); O(n^2)", _LEE,
           out_of_sample="optimised", max_rows=5_000, figures=("kl_divergence_",)),
    Method("global-t-sne", "isentropic.methods.global_tsne:GlobalTSNE",
           "Near rows stay near, and far ones far.", "neighbours", "O(n^2); O(n^2)", _ZHOU,
           out_of_sample="optimised", max_rows=10_000, figures=("kl_divergence_",)),
    Method("umap", "isentropic.methods.umap:UMAP", "Fuzzy neighbour graphs of data and map agree.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _MCINNES, out_of_sample="optimised",
           draws_above=0, preset="standard", figures=("cost_",)),
    Method("pacmap", "isentropic.methods.pacmap:PaCMAP", "Near and mid-near pairs pull, further ones push.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _WANG, out_of_sample="optimised", draws_above=0,
           preset="standard", figures=("cost_",)),
    Method("trimap", "isentropic.methods.trimap:TriMap", "Rows stay nearer to near rows than to far ones.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _AMID, out_of_sample="optimised", draws_above=0,
           figures=("violated_",)),
    Method("som", "isentropic.methods.som:SOM", "Nodes of a grid, each the mean of the rows near it.",
           "lattice", "O(r n m); O(n m + r^2)", _KOHONEN, precomputed=False),
    Method("gtm", "isentropic.methods.gtm:GTM", "A bent sheet of Gaussians, of maximum likelihood.",
           "lattice", "O(r n m); O(n m)", _BISHOP, precomputed=False, figures=("log_likelihood_",)),
    Method("supervised-t-sne", "isentropic.methods.supervised_tsne:SupervisedTSNE",
           "Rows of two classes are farther apart in t-SNE.", "neighbours",
           "O(n^2 m + n k); O(n (m + k))", _HAJDERANJ_2019, needs_y=True, out_of_sample="optimised",
           max_rows=100_000, figures=("kl_divergence_",)),
    Method("sgt-sne", "isentropic.methods.sgt_sne:SGtSNE",
           "Geodesic t-SNE, near rows of two classes twice as far apart.", "neighbours",
           "O(n^1.1 m + n k p log p); O(n (m + k + p))", _CERVATI_NETO, needs_y=True,
           out_of_sample="optimised", precomputed=False, draws_above=10_000, max_rows=100_000,
           figures=("kl_divergence_",)),
    Method("set-sne", "isentropic.methods.set_sne:SEtSNE",
           "Divergences of patches bring rows of a class together in t-SNE.", "neighbours",
           "O(n^1.1 m + n k m^2); O(n (m^2 + k + p))", _CERVATI_NETO, needs_y=True,
           out_of_sample="optimised", precomputed=False, draws_above=10_000, max_rows=100_000,
           figures=("kl_divergence_",)),
    Method("supervised-umap", "isentropic.methods.supervised_umap:SupervisedUMAP",
           "UMAP in which neighbours of two classes hardly belong together.", "neighbours",
           "O(n^1.1 m + n k); O(n (m + k))", _MCINNES, needs_y=True, out_of_sample="optimised",
           draws_above=0, figures=("cost_",)),
    Method("parametric", "isentropic.meta.parametric_embedding:ParametricEmbedding",
           "A network that mimics another method, for new rows.", "wrapper", "O(n w); O(n m + w)", _ESPADOTO,
           precomputed=False, draws_above=0),
)  # fmt: skip


def _by_name(methods: tuple[Method, ...]) -> Mapping[str, Method]:
    return MappingProxyType({method.name: method for method in methods})


def _installed() -> tuple[Method, ...]:
    """Methods of other packages; one that cannot be loaded, or takes a name of ours, is left out."""
    methods: list[Method] = []
    for point in entry_points(group="isentropic.methods"):
        try:
            method = point.load()
        except Exception as error:  # whatever a foreign module raises must not break ours
            problem = f"it cannot be loaded ({error})"
        else:
            taken = {known.name for known in (*_BUILT_IN, *methods)}
            problem = "its name is taken" if method.name in taken else ""
            methods += [] if problem else [method]
        if problem:
            warnings.warn(f"Method {point.value!r} is left out: {problem}.", IsentropicWarning, stacklevel=2)
    return tuple(methods)


METHODS: Mapping[str, Method] = _by_name(_BUILT_IN + _installed())


def make(name: str, **params: Any) -> Any:
    """Build the estimator that the registry knows as ``name``.

    >>> from isentropic import make
    >>> make("landmark-isomap", n_components=3)
    Isomap(n_components=3, n_landmarks=500)
    """
    require_one_of("method", name, METHODS)
    method = METHODS[name]
    if method.extra:
        require_extra(method.extra, name)
    estimator = method.load()
    accepted = [p for p in inspect.signature(estimator).parameters if p != "self"]
    for parameter in params:
        if parameter not in accepted:
            raise InvalidInputError(
                f"{name} has no parameter {parameter!r}. {nearest(parameter, accepted)}"
                f"It takes {', '.join(accepted)}."
            )
    return estimator(**{**method.params, **params})


def methods_table() -> str:
    """The registry as a table in Markdown, for the README."""
    lines = [
        "| method | family | what it does | new rows | time; memory |",
        "| --- | --- | --- | --- | --- |",
    ]
    for method in METHODS.values():
        cells = (f"`{method.name}`", method.family, method.summary, method.out_of_sample, method.cost)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
