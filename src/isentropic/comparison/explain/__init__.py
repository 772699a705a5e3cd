"""Explanations: columns of a selection, regions of damage, relation of columns, intrinsic dimension."""
