"""Linear maps and their kernels: PCA and its kin, ICA, LDA, NCA, random projections."""
