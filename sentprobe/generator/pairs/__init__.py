"""Pairs and triplets of sentences with the same or different meanings."""
