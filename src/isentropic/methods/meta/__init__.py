"""Estimators of estimators."""
