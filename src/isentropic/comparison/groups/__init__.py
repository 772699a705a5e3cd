"""Groups of rows: density clusters of a map, their reproducibility, and their names."""

from .density_groups import Group, Groups, GroupTest, find_groups
from .reproducible_groups import test_groups

__all__ = ["Group", "GroupTest", "Groups", "find_groups", "test_groups"]
