"""Variants of an encoder: its vectors with fewer dimensions, rounded, or without the information on some labels."""
