"""Neighbour lists and graphs: who is near whom, and whether everyone can be reached."""

from .approximate import approximate_neighbors, search_graph
from .components import POLICIES, checked_policy, component_labels, repaired
from .directed import joined_graph, listed_graph, percentile_lists
from .distances import EUCLIDEAN, Metric, checked_magnitude, distances_between, metric_name, rows_per_block
from .duplicates import distinct_rows, hashes_of
from .entries import entry_lists
from .graphs import as_rule, can_weights, neighbor_graph, pnn_weights
from .search import clipped_neighbors, nearest_among, nearest_neighbors, use_approximate

__all__ = [
    "EUCLIDEAN",
    "Metric",
    "POLICIES",
    "approximate_neighbors",
    "as_rule",
    "can_weights",
    "checked_magnitude",
    "checked_policy",
    "clipped_neighbors",
    "component_labels",
    "distances_between",
    "distinct_rows",
    "entry_lists",
    "hashes_of",
    "joined_graph",
    "listed_graph",
    "metric_name",
    "nearest_among",
    "nearest_neighbors",
    "neighbor_graph",
    "percentile_lists",
    "pnn_weights",
    "repaired",
    "rows_per_block",
    "search_graph",
    "use_approximate",
]
