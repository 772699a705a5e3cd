"""Out-of-sample maps: linear, by eigenvectors, by geodesics, by optimization."""
