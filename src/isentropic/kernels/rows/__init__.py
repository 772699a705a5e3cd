"""Kernels that place one new row each, by its own cost alone."""
