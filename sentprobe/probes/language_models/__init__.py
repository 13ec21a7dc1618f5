"""Scores of language models on minimal pairs, and the accuracies that follow from them."""
