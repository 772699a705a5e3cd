"""Kernels of distances: blocks and pairs of rows, tables without their diagonal."""
