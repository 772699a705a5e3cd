"""Kernels of networks and lattices: layers, Adam, responsibilities of nodes."""
