"""Neighbour lists and graphs: who is near whom, and whether everyone can be reached."""

from .graphs import (
    POLICIES,
    QueryEdges,
    apply_disconnected_policy,
    as_rule,
    checked_policy,
    checked_table,
    component_labels,
    conformal_graph,
    conformal_query_edges,
    directed_lists,
    directed_within,
    distance_graph,
    first_neighbors,
    graph_of_lists,
    graph_of_rows,
    joined_graph,
    query_edges,
    subgraph,
    union,
    warn_of_components,
    warn_of_isolated,
)
from .index import RowIndex, lists_in_rows
from .search import (
    approximate_neighbors,
    class_votes,
    clipped_neighbors,
    nearest_among,
    nearest_neighbors,
    search_graph,
    searched_neighbors,
    use_approximate,
)
from .updated_neighbors import appended_lists, lists_of_graph, replaced_among, replaced_neighbors

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "POLICIES",
    "distance_graph",
    "nearest_neighbors",
]
