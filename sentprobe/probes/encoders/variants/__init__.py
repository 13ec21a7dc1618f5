"""Variants of an encoder: its vectors are cut, rounded, or freed of a property."""
