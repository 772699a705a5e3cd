"""Local linear patches, aligned: LLE and LTSA kinds, NPE, maximum variance unfolding."""
