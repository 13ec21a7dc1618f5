"""Read the texts on which an encoder is trained from the user's files."""
