"""Estimators of estimators, and maps over a parameter."""

from .appending import Appended, append_rows
from .growing_neighbors import isomap_path
from .parametric_embedding import ParametricEmbedding
from .path_values import Path
from .selected import Selected

__all__ = ["Appended", "ParametricEmbedding", "Path", "Selected", "append_rows", "isomap_path"]
