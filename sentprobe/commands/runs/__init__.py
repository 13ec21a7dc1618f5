"""Commands that train probes or encoders, measure distances between vectors, or score language models."""
