"""Parameters chosen by the quality of the map, without labels."""
