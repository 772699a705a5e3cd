"""Eigenvectors of a graph Laplacian: eigenmaps, diffusion maps, LPP kinds."""
