"""Content of the page: the first screen, the scores, the order of the maps."""
