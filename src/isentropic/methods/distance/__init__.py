"""Distances of pairs, kept in the map: MDS kinds, stress, similarities of one degree."""

from __future__ import annotations

from ..._core.values import Geodesic
from ..method import Method

_TORGERSON = "Torgerson (1952), Multidimensional scaling I: theory and method, Psychometrika 17"
_LANDMARK = "de Silva and Tenenbaum (2003), Global versus local methods, NIPS 15"
_KRUSKAL = "Kruskal (1964), Multidimensional scaling by optimizing goodness of fit, Psychometrika 29"
_MCGEE = "McGee (1966), The multidimensional analysis of elastic distances, Brit. J. Math. Stat. Psych. 19"
_VENNA = "Venna and Kaski (2006), Local multidimensional scaling, Neural Networks 19"
_SAMMON = "Sammon (1969), A nonlinear mapping for data structure analysis, IEEE Trans. Computers 18"
_DEMARTINES = "Demartines and Hérault (1997), Curvilinear component analysis, IEEE Trans. Neural Networks 8"
_LESPINATS = "Lespinats, Verleysen, Giron and Fertil (2007), DD-HDS, IEEE Trans. Neural Networks 18"
_VILLEMAIN = "Lespinats, Fertil, Villemain and Hérault (2009), RankVisu, Neurocomputing 72"
_GASHLER = "Gashler, Ventura and Martinez (2007), Iterative non-linear DR with manifold sculpting, NIPS 20"
_YANG = "Yang (2004), Sammon's nonlinear mapping using geodesic distances, ICPR 17"
_LENDASSE = (
    "Lee, Lendasse and Verleysen (2004), Nonlinear projection with curvilinear distances, Neurocomputing 57"
)
_ROSMAN = "Rosman and others (2010), Nonlinear dimensionality reduction by TCIE, Int. J. Comp. Vision 89"
_HAJDERANJ = "Hajderanj, Chen, Grisan and Dudley (2020), Single- and multi-distribution DR, IEEE Access 8"

METHODS = (
    Method("classical-mds", "isentropic.methods.distance.classical_mds:ClassicalMDS",
           "Coordinates whose distances match the given ones.", "stress", "O(n^2 d); O(n^2)", _TORGERSON,
           max_rows=40_000, preset="quick"),
    Method("landmark-mds", "isentropic.methods.distance.classical_mds:ClassicalMDS",
           "Classical MDS through landmarks.", "stress", "O(l n m); O(l n)", _LANDMARK,
           params={"n_landmarks": 500}),
    Method("metric-mds", "isentropic.methods.distance.metric_mds:MetricMDS",
           "Distances are those of the data, by least squares.", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000, preset="standard"),
    Method("elastic-scaling", "isentropic.methods.distance.metric_mds:MetricMDS",
           "Metric MDS of relative errors: near distances count as much as far ones.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _MCGEE, params={"power": 2.0}, out_of_sample="optimised",
           draws_above=8_000),
    Method("nonmetric-mds", "isentropic.methods.distance.nonmetric_mds:NonmetricMDS",
           "Distances are in the order of those of the data.", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000, figures=("stress_",)),
    Method("local-mds", "isentropic.methods.distance.local_mds:LocalMDS",
           "Distances of neighbours, in the data or in the map, are kept.", "stress", "O(n^2); O(n^2)",
           _VENNA, out_of_sample="optimised", max_rows=10_000),
    Method("sammon", "isentropic.methods.distance.metric_mds:Sammon",
           "Distances are those of the data, near ones above all.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _SAMMON, out_of_sample="optimised", draws_above=8_000),
    Method("cca", "isentropic.methods.distance.curvilinear_component_analysis:CurvilinearComponentAnalysis",
           "Distances are kept between rows near in the map; the rest may tear.", "short-range",
           "O(n min(n, s)); O(n min(n, s))", _DEMARTINES, out_of_sample="optimised", draws_above=8_000),
    Method("dd-hds", "isentropic.methods.distance.dd_hds:DDHDS",
           "Short distances first, short in the data or in the map.", "short-range",
           "O(n min(n, s)); O(n min(n, s))", _LESPINATS, out_of_sample="optimised", draws_above=8_000),
    Method("rankvisu", "isentropic.methods.distance.rank_visu:RankVisu",
           "Neighbours keep their ranks.", "short-range",
           "O(n^2 log n); O(n^2)", _VILLEMAIN, out_of_sample="optimised", max_rows=10_000,
           figures=("start_cost_",)),
    Method("manifold-sculpting", "isentropic.methods.distance.manifold_sculpting:ManifoldSculpting",
           "Lengths and angles of neighbourhoods, while axes shrink; not reliable.", "short-range",
           "O(n k m); O(n (m + k))", _GASHLER, out_of_sample="optimised", precomputed=False, draws_above=0,
           max_rows=5_000),
    Method("geodesic-sammon", "isentropic.methods.distance.metric_mds:Sammon",
           "Sammon's mapping of geodesic distances.",
           "geodesic", "O(n^2 (k + log n)); O(n^2)", _YANG, params={"metric": Geodesic()},
           out_of_sample="optimised", precomputed=False, max_rows=40_000, draws_above=10_000,
           figures=("cost_",)),
    Method("cda", "isentropic.methods.distance.curvilinear_component_analysis:CurvilinearComponentAnalysis",
           "CCA of geodesic distances: unrolls rather than tears.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _LENDASSE, params={"metric": Geodesic()},
           out_of_sample="optimised", precomputed=False, max_rows=20_000, draws_above=10_000,
           figures=("cost_", "radius_")),
    Method("tcie", "isentropic.methods.distance.tcie:TCIE",
           "Geodesic distances, but for paths that a hole or an edge bends.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _ROSMAN, out_of_sample="optimised", max_rows=10_000,
           figures=("cost_", "kept_")),
    Method("sdd", "isentropic.methods.distance.sdd:SDD",
           "Similarities of one degree, chosen by tau, in data and map.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, preset="standard", figures=("degree_",)),
    Method("multi-sdd", "isentropic.methods.distance.multi_sdd:MultiSDD",
           "Similarities of several degrees at once.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, figures=("degree_", "degrees_", "selected_")),
    Method("parameter-free-sdd", "isentropic.methods.distance.sdd:ParameterFreeSDD",
           "Similarities of degree 1: distances keep their order.", "pairs", "O(n min(n, s)); O(n min(n, s))",
           _HAJDERANJ, out_of_sample="optimised", draws_above=8_000, preset="quick"),
)  # fmt: skip
