"""Kernels of maps that keep neighbors: forces, epochs of drawn pairs, perplexities."""
