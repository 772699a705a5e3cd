"""Quality by distances of pairs: correlations, stress."""
