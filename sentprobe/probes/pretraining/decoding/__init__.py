"""Decoders that generate text from a sentence vector, and the conversion of texts to numbers of subwords."""
