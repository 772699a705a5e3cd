"""Preparation: roles, kinds, missing values and scales turn the columns of a frame into features."""
