"""A package that adds a method to isentropic."""
