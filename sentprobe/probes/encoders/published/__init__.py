"""Encoders with published weights, one module per kind; nothing is unpickled."""
