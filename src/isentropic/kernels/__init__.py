"""Hot loops: arrays in, arrays out. Nothing here knows of estimators, values or files."""
