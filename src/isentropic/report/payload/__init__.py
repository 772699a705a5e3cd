"""Data of the page for its script: rows, columns, curves, diagrams."""
