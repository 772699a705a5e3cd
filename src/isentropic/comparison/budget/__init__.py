"""Plan and time budget of a comparison: cost model, samples, progress, the fit of all rows."""
