"""One estimator per file: its stages, and its docstring."""
