"""Readers: files of each format become frames of named columns."""
