"""Runs as pages for people: HTML, text. Pure: nothing is fitted, read or sent here."""
