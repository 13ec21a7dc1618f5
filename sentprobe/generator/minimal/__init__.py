"""Minimal pairs: a grammatical sentence, and the same sentence with one error."""
