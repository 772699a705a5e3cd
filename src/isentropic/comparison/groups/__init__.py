"""Are there groups? Clusters of a map, whether halves of the rows show them again, and what to call them."""

from .density_groups import find_groups
from .group_results import Group, Groups, GroupTest
from .reproducible_groups import test_groups

__all__ = ["Group", "GroupTest", "Groups", "find_groups", "test_groups"]
