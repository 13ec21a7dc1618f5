"""Training of encoders, and scores of encoders during their training."""
