"""Neighbour lists and graphs: who is near whom, and whether everyone can be reached."""

from .appended import appended_lists, lists_of_graph
from .approximate import approximate_neighbors, search_graph
from .components import POLICIES, checked_policy, component_labels, repaired, subgraph, warn_of_parts
from .conformal import conformal_entries, conformal_graph
from .entries import Entries, entry_lists, warn_of_isolated
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
from .replaced import replaced_among, replaced_neighbors
from .search import (
    class_votes,
    clipped_neighbors,
    nearest_among,
    nearest_neighbors,
    searched_neighbors,
    use_approximate,
)

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "POLICIES",
    "distance_graph",
    "nearest_neighbors",
]
