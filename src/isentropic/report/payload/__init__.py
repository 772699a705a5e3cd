"""What the page draws, as plain data: rows, columns, curves."""
