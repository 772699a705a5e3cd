"""The thesis of PCA and ISOMAP (002)."""
