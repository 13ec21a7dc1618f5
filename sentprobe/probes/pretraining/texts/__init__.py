"""Readers of the user's files: texts that an encoder learns from."""
