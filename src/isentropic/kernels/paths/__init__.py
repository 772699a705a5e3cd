"""Kernels of shortest paths in neighbor graphs."""
