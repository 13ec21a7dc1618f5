"""``probe analyze``: natural-text corpora are read, parsed and stored as a table."""
