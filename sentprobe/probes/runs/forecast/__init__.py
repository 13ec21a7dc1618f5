"""Forecast of a run (``--dry-run``): planned work and estimated time."""
