"""Kernels of densities: Gaussian patches, kernel estimates, the hills of a density."""
