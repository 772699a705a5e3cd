"""What the text in a cell means: an amount, a marked value, a code for missing values, an ordered word."""
