"""Estimators of estimators."""

from .parametric_embedding import ParametricEmbedding

__all__ = ["ParametricEmbedding"]
