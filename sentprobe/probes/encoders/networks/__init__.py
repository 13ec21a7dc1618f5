"""Networks that compute a sentence vector from word vectors, one module per family of architectures."""
