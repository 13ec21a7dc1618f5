"""The request for a run: suites, targets, methods and settings, checked once."""
