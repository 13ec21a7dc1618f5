"""Commands that train probes or encoders, or measure distances."""
