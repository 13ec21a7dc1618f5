"""Decoders that generate text from a sentence vector, and their subword codes."""
