"""A corpus of natural text: read, parsed and kept as a table, on any engine."""
