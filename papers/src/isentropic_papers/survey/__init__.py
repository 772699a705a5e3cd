"""The survey of 44 techniques on ten tables."""
