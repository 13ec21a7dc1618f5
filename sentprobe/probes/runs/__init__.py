"""Runs: datasets and encoders to results, resumed and stored."""
