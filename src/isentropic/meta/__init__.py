"""Estimators of estimators, and maps over a parameter."""

from .growing_neighbors import isomap_path
from .parametric_embedding import ParametricEmbedding
from .path_values import Path
from .selected import Selected

__all__ = ["ParametricEmbedding", "Path", "Selected", "isomap_path"]
