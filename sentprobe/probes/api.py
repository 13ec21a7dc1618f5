"""The shortest way to the suite from Python: build a task, wrap an encoder, compare results."""
