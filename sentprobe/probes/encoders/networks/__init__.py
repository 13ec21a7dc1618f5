"""Networks that compute a sentence vector from word vectors."""
