"""Kernels of neighbor searches: trees of boxes, forests, descent, unions of graphs."""
