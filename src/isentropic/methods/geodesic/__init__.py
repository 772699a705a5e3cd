"""ISOMAP and its variants: classical scaling of shortest paths."""

from __future__ import annotations

from ..method import Method

_TENENBAUM = "Tenenbaum, de Silva and Langford (2000), A global geometric framework, Science 290"
_LANDMARK = "de Silva and Tenenbaum (2003), Global versus local methods, NIPS 15"
_CHOI = "Choi and Choi (2007), Robust kernel Isomap, Pattern Recognition 40"
_CERVATI = "Cervati Neto and Levada (2020), ISOMAP-KL: a parametric approach for unsupervised metric learning"
_KDE = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.5"
_GENG = "Geng, Zhan and Zhou (2005), Supervised nonlinear dimensionality reduction, IEEE Trans. SMC B 35"
_VLACHOS = "Vlachos and others (2002), Non-linear DR techniques for classification, KDD 8"
_CLASSES = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.1"

METHODS = (
    Method("isomap", "isentropic.methods.geodesic.isomap:Isomap",
           "Classical MDS of geodesic distances.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _TENENBAUM, max_rows=40_000, draws_above=10_000, preset="standard"),
    Method("landmark-isomap", "isentropic.methods.geodesic.isomap:Isomap",
           "ISOMAP through landmarks.", "geodesic",
           "O(l n (k + log n)); O(l n)", _LANDMARK, params={"n_landmarks": 500}, draws_above=10_000,
           preset="standard"),
    Method("c-isomap", "isentropic.methods.geodesic.isomap:Isomap",
           "ISOMAP with edges scaled by the local density.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _LANDMARK, params={"conformal": True}, max_rows=40_000,
           draws_above=10_000),
    Method("kernel-isomap", "isentropic.methods.geodesic.isomap:Isomap",
           "ISOMAP with a constant that makes its distances Euclidean.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _CHOI, params={"positive": True}, max_rows=10_000,
           draws_above=10_000),
    Method("entropic-isomap", "isentropic.methods.geodesic.entropic_isomap:EntropicIsomap",
           "ISOMAP over divergences between Gaussian patches.", "geodesic",
           "O(n^2 (k + log n) + n k m^2); O(n^2 + n m^2)", _CERVATI, precomputed=False, max_rows=40_000,
           draws_above=10_000, preset="standard"),
    Method("kde-isomap", "isentropic.methods.geodesic.kde_isomap:KDEIsomap",
           "ISOMAP over divergences between densities of patches.", "geodesic",
           "O(n^2 (N + log n) + n N m L); O(n^2 + n L)", _KDE, precomputed=False, max_rows=40_000),
    Method("es-isomap", "isentropic.methods.geodesic.class_isomap:SupervisedIsomap",
           "ISOMAP over dissimilarities that separate the classes.", "geodesic", "O(n^2 (k + log n)); O(n^2)",
           _GENG, needs_y=True, max_rows=40_000),
    Method("weighted-isomap", "isentropic.methods.geodesic.class_isomap:SupervisedIsomap",
           "ISOMAP with shorter distances within classes.", "geodesic", "O(n^2 (k + log n)); O(n^2)",
           _VLACHOS, params={"dissimilarity": "dis2"}, needs_y=True, max_rows=40_000),
    Method("class-isomap", "isentropic.methods.geodesic.class_isomap:ClassIsomap",
           "ISOMAP of geodesics and divergences between classes.", "geodesic",
           "O(n^2 (k + log n) + c min(n, m)^3); O(n^2 + c min(n, m)^2)", _CLASSES, needs_y=True,
           precomputed=False, max_rows=40_000, draws_above=10_000),
)  # fmt: skip
