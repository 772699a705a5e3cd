"""Neighbour lists and graphs: who is near whom, and whether everyone can be reached."""

from .approximate import approximate_neighbors, search_graph
from .components import POLICIES, checked_policy, component_labels, repaired
from .directed import first_neighbors, joined_graph, listed_graph, percentile_lists
from .distances import (
    EUCLIDEAN,
    LARGEST,
    Metric,
    checked_distance_matrix,
    checked_distance_rows,
    checked_magnitude,
    checked_metric,
    distances_between,
    metric_name,
    metric_names,
    rows_per_block,
)
from .duplicates import distinct_rows, hashes_of
from .entries import Entries, entry_lists, warn_of_isolated
from .graphs import as_rule, can_weights, neighbor_graph, pnn_weights
from .index import RowIndex
from .search import clipped_neighbors, nearest_among, nearest_neighbors, use_approximate

__all__ = [
    "EUCLIDEAN",
    "LARGEST",
    "Entries",
    "Metric",
    "POLICIES",
    "RowIndex",
    "approximate_neighbors",
    "as_rule",
    "can_weights",
    "checked_distance_matrix",
    "checked_distance_rows",
    "checked_magnitude",
    "checked_metric",
    "checked_policy",
    "clipped_neighbors",
    "component_labels",
    "distances_between",
    "distinct_rows",
    "entry_lists",
    "first_neighbors",
    "hashes_of",
    "joined_graph",
    "listed_graph",
    "metric_name",
    "metric_names",
    "nearest_among",
    "nearest_neighbors",
    "neighbor_graph",
    "percentile_lists",
    "pnn_weights",
    "repaired",
    "rows_per_block",
    "search_graph",
    "use_approximate",
    "warn_of_isolated",
]
