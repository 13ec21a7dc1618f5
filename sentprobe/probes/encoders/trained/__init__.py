"""Encoders with networks of sentprobe: untrained (random weights), or trained with ``probe train``."""
