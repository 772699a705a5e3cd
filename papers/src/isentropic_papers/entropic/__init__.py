"""The thesis and the article of the entropic methods (000, 001)."""
