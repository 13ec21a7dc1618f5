"""The embedding cache, which stores sentence vectors on disk, and encoding that uses it."""
