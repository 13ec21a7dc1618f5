"""Sentences: realization, parsing and annotation of events."""
