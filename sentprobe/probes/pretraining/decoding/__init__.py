"""Decoders that generate text from a sentence vector, and the quality of that text."""
