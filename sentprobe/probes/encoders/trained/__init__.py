"""Encoders that sentprobe builds: networks with random weights, and models that ``probe train`` trained."""
