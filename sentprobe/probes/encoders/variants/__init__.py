"""Variants of an encoder: cut, rounded, or with a property erased."""
