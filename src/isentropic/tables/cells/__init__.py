"""Meaning of cells: amounts with units, exact whole numbers, ordered words."""
