"""Maps against each other, and against chance."""
