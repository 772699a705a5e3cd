"""Quality row by row: tests of places, jumps, what each row contributes."""
