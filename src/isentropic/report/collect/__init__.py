"""What the page says of the runs: the first screen, the scores, the order of the maps."""
