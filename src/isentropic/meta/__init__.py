"""Estimators of estimators."""

from .selected import Selected

__all__ = ["Selected"]
