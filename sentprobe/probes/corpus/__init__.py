"""Natural-text corpora: reading, parsing and storage as a table, on any engine."""
