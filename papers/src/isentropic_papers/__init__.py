"""Published tables of five texts as plug-ins of isentropic: what they print, and how it is run again."""
