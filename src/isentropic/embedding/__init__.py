"""What the methods of all families share: the base of estimators, input rows, starts, distances."""
