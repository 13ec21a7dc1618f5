"""Dataset formats: each is read, written and recognised by its content."""
