"""Comparison of methods on one table: fit, time and score each, and recommend a map."""

from .evaluation.label_tests import label_permutation_test
from .evaluation.row_diagnostics import RowDiagnostics
from .evaluation.runs import LabelTest, Run, Trial
from .explain.dimension import Dimensions, intrinsic_dimension
from .explain.explanation import Difference, Explanation, explain
from .export import data_map, maps_frame, save_maps
from .groups import Group, Groups, GroupTest, find_groups, test_groups
from .method_comparison import compare
from .page_data import Mark, PageData, Picture, collect_page_data
from .presets import PRESETS, Preset
from .verdict import Caveat, Grade, GroupAnswer, Rating, Verdict, verdict

__all__ = [
    "Caveat",
    "Difference",
    "Dimensions",
    "Drawing",
    "Explanation",
    "Grade",
    "Group",
    "GroupAnswer",
    "GroupTest",
    "Groups",
    "LabelTest",
    "Mark",
    "PRESETS",
    "Picture",
    "Preset",
    "Rating",
    "RowDiagnostics",
    "Run",
    "Trial",
    "Verdict",
    "compare",
    "data_map",
    "drawing",
    "explain",
    "find_groups",
    "intrinsic_dimension",
    "label_permutation_test",
    "maps_frame",
    "save_maps",
    "test_groups",
    "verdict",
]
