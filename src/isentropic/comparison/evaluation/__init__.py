"""Evaluation of one method: candidates, fits, runs, tests of labels and of rows."""
