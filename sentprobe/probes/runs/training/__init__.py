"""Training of encoders, and probing them on the way."""
