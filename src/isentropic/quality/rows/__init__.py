"""Row diagnostics: tests of places, jumps of a map, checks of selections."""
