"""Nodes of a grid in the data: SOM and GTM."""
