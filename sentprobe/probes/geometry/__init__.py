"""Geometry of sentence vectors: distances within triplets, without training."""
