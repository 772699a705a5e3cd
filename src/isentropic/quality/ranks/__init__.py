"""Quality by ranks of neighbors: co-ranking, curves over all k, topology."""
