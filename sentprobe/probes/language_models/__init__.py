"""Score minimal pairs with language models, and compute the accuracies of the models."""
