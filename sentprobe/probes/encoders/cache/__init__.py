"""The cache of sentence vectors on disk, and embedding through it."""
