"""What a selection, a region or a direction of the data has in common."""
