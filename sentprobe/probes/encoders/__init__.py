"""Sentence encoders: their protocol and the table of encoder kinds."""
