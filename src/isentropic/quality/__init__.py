"""Quality measures of maps: ranks, curves, correlations, stress, topology, classes."""

from ..distances import distance_rows
from .assessment import assess
from .class_measures import kappa, knn_accuracy, silhouette
from .distance_measures import (
    ShepardPairs,
    kendall_tau,
    kruskal_stress,
    neighborhood_stress,
    pearson_r,
    residual_variance,
    sammon_stress,
    shepard_pairs,
    spearman_rho,
)
from .map_agreement import (
    MapAgreement,
    Movement,
    SharedNeighbors,
    aligned_distance,
    map_agreement,
    shared_neighbors,
)
from .map_comparisons import Baseline, QualityComparison, baseline, compare_quality
from .measures import Measure
from .quality_result import Quality, Ties
from .ranks.rank_curves import Curves
from .ranks.rank_measures import (
    CorankingMatrix,
    NearNeighbors,
    continuity,
    coranking_matrix,
    false_neighbors,
    lcmc,
    mrre,
    near_neighbor_share,
    rnx_auc,
    rnx_curve,
    tears,
    trustworthiness,
)
from .ranks.topology import RetainedStructure, konig_measure, retained_structure, topological_product
from .row_measures import (
    MapJumps,
    RowTests,
    SelectionCheck,
    check_selection,
    corrected_selection,
    map_jumps,
    row_tests,
)

__all__ = [
    # everything at once
    "Quality",
    "assess",
    "QualityComparison",
    "compare_quality",
    "MapAgreement",
    "map_agreement",
    "SharedNeighbors",
    "shared_neighbors",
    "Movement",
    "aligned_distance",
    "Baseline",
    "baseline",
    # row by row
    "RowTests",
    "row_tests",
    "MapJumps",
    "map_jumps",
    # a selection against the data
    "SelectionCheck",
    "check_selection",
    "corrected_selection",
    # ranks of neighbours
    "continuity",
    "coranking_matrix",
    "false_neighbors",
    "lcmc",
    "mrre",
    "NearNeighbors",
    "near_neighbor_share",
    "rnx_auc",
    "rnx_curve",
    "tears",
    "trustworthiness",
    "konig_measure",
    "retained_structure",
    "topological_product",
    # distances
    "kendall_tau",
    "kruskal_stress",
    "neighborhood_stress",
    "pearson_r",
    "residual_variance",
    "sammon_stress",
    "shepard_pairs",
    "spearman_rho",
    # classes
    "kappa",
    "knn_accuracy",
    "silhouette",
    # values
    "CorankingMatrix",
    "Curves",
    "Measure",
    "RetainedStructure",
    "ShepardPairs",
    "Ties",
    "distance_rows",
]
