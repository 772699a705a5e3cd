"""The thesis of SDD and trustworthy reduction (004)."""
