"""The public name of estimators of estimators, and of maps over a parameter."""

from .methods.geodesic.neighborhood_sizes import Path, isomap_path
from .methods.meta.appended_rows import Appended, append_rows
from .methods.meta.parametric_embedding import ParametricEmbedding
from .methods.meta.selected import Selected

__all__ = ["Appended", "ParametricEmbedding", "Path", "Selected", "append_rows", "isomap_path"]
