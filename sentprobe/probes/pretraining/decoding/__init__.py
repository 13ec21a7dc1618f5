"""Decoders that generate a text from a sentence vector, and the conversion between texts and subword codes."""
