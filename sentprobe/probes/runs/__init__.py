"""Runs: train probes on the vectors of encoders, score them on tasks, and store the results."""
