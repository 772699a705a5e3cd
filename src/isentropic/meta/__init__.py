"""Estimators of estimators."""

from .parametric_embedding import ParametricEmbedding
from .selected import Selected

__all__ = ["ParametricEmbedding", "Selected"]
