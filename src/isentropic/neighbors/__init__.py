"""Neighbour lists and graphs: who is near whom, and whether everyone can be reached."""

from .approximate import approximate_neighbors, search_graph
from .components import POLICIES, checked_policy, component_labels, repaired, subgraph, warn_of_parts
from .graphs import (
    as_rule,
    checked_table,
    directed_lists,
    directed_within,
    distance_graph,
    first_neighbors,
    joined_graph,
    listed_graph,
    union,
)
from .index import RowIndex, lists_in_rows
from .query_edges import Entries, conformal_entries, conformal_graph, entry_lists, warn_of_isolated
from .search import (
    class_votes,
    clipped_neighbors,
    nearest_among,
    nearest_neighbors,
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
