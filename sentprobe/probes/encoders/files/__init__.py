"""Files of sentence vectors and of word vectors."""
