"""Encoders built here: untrained networks, and those trained by ``probe train``."""
