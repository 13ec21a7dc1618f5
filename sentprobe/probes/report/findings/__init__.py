"""Findings drawn from results: comparisons, standings, control verdicts, mistakes."""
