"""Encoders from other packages and servers: transformers, HTTP endpoints, Python functions."""
