"""Read the user's files with the texts on which an encoder is trained."""
