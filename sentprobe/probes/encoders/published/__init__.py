"""Encoders with weights that others published, a kind a file; nothing is ever unpickled."""
