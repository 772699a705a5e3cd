"""Kernels of quality measures: ranks of neighbors, inversions, tests of places."""
