"""Functions that read the texts for the training of an encoder from the user's files."""
