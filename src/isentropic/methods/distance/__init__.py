"""Distances of pairs, kept in the map: MDS kinds, stress, similarities of one degree."""
