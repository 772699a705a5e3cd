"""One folder per family, with one estimator per file and what they share. No family imports another."""
