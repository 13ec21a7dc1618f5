"""Networks: word vectors -> one vector a sentence; a file for each family of architectures."""
