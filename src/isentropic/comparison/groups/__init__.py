"""Are there groups? Clusters of a map, whether halves of the rows show them again, and what to call them."""

from .hills import find_groups
from .testing import test_groups
from .values import Group, Groups, GroupTest

__all__ = ["Group", "GroupTest", "Groups", "find_groups", "test_groups"]
