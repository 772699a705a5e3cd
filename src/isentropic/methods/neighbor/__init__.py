"""Neighbors kept in the map: SNE, t-SNE, UMAP, PaCMAP, TriMap and supervised kinds."""
