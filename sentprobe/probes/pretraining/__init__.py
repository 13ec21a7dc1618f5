"""Training of encoders for ``probe train``: texts, objectives, and the loop that trains a sentence model."""
