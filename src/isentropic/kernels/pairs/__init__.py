"""Kernels of costs over pairs of rows: stress, similarities of a degree, ranks."""
