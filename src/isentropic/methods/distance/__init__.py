"""Methods that preserve distances of pairs: MDS kinds, stress, same-degree distributions."""

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
           "Principal coordinates of a matrix of distances.", "stress", "O(n^2 d); O(n^2)", _TORGERSON,
           max_rows=40_000, preset="quick"),
    Method("landmark-mds", "isentropic.methods.distance.classical_mds:ClassicalMDS",
           "Classical MDS through landmarks.", "stress", "O(l n m); O(l n)", _LANDMARK,
           params={"n_landmarks": 500}),
    Method("metric-mds", "isentropic.methods.distance.mds:MetricMDS",
           "Preserves distances by least squares (stress).", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000, preset="standard"),
    Method("elastic-scaling", "isentropic.methods.distance.mds:MetricMDS",
           "Metric MDS of relative errors: near distances count as much as far ones.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _MCGEE, params={"power": 2.0}, out_of_sample="optimised",
           draws_above=8_000),
    Method("nonmetric-mds", "isentropic.methods.distance.mds:NonmetricMDS",
           "Preserves the order of distances (Kruskal's stress).", "stress", "O(n min(n, s)); O(n min(n, s))",
           _KRUSKAL, out_of_sample="optimised", draws_above=8_000, figures=("stress_",)),
    Method("local-mds", "isentropic.methods.distance.local_mds:LocalMDS",
           "Preserves distances between neighbours, in the data or in the map.", "stress", "O(n^2); O(n^2)",
           _VENNA, out_of_sample="optimised", max_rows=10_000),
    Method("sammon", "isentropic.methods.distance.mds:Sammon",
           "Preserves distances, short ones above all.", "stress",
           "O(n min(n, s)); O(n min(n, s))", _SAMMON, out_of_sample="optimised", draws_above=8_000),
    Method("cca", "isentropic.methods.distance.curvilinear_component_analysis:CurvilinearComponentAnalysis",
           "Preserves distances that are short in the map; long ones may tear.", "short-range",
           "O(n min(n, s)); O(n min(n, s))", _DEMARTINES, out_of_sample="optimised", draws_above=8_000),
    Method("dd-hds", "isentropic.methods.distance.dd_hds:DDHDS",
           "Preserves distances that are short in the data or in the map.", "short-range",
           "O(n min(n, s)); O(n min(n, s))", _LESPINATS, out_of_sample="optimised", draws_above=8_000),
    Method("rankvisu", "isentropic.methods.distance.rank_visu:RankVisu",
           "Preserves the ranks of neighbours.", "short-range",
           "O(n^2 log n); O(n^2)", _VILLEMAIN, out_of_sample="optimised", max_rows=10_000,
           figures=("start_cost_",)),
    Method("manifold-sculpting", "isentropic.methods.distance.manifold_sculpting:ManifoldSculpting",
           "Preserves lengths and angles while axes shrink; not reliable.", "short-range",
           "O(n k m); O(n (m + k))", _GASHLER, out_of_sample="optimised", precomputed=False, draws_above=0,
           max_rows=5_000),
    Method("geodesic-sammon", "isentropic.methods.distance.mds:Sammon",
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
           "Geodesic distances without paths bent by a hole or a boundary.", "geodesic",
           "O(n^2 (k + log n)); O(n^2)", _ROSMAN, out_of_sample="optimised", max_rows=10_000,
           figures=("cost_", "pair_share_")),
    Method("sdd", "isentropic.methods.distance.sdd:SDD",
           "Matches similarities of one degree, chosen by Kendall's tau.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, preset="standard", figures=("degree_",)),
    Method("multi-sdd", "isentropic.methods.distance.multi_sdd:MultiSDD",
           "Matches similarities of several degrees at once.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, figures=("degree_", "degrees_", "selected_")),
    Method("parameter-free-sdd", "isentropic.methods.distance.sdd:ParameterFreeSDD",
           "Matches similarities of degree 1: preserves the order of distances.",
           "pairs", "O(n min(n, s)); O(n min(n, s))", _HAJDERANJ, out_of_sample="optimised",
           draws_above=8_000, preset="quick"),
)  # fmt: skip
