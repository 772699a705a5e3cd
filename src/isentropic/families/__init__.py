"""What the methods of a family share: how they fit, and how they place a new row."""
