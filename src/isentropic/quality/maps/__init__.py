"""Comparison of maps with each other, and with chance."""
