"""Experiments that can be run again: protocols, their results, and the statistics over them."""
