"""Trees and dependencies, the parsers that make them, and what the tasks ask of them."""
