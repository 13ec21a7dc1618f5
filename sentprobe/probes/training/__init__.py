"""Train encoders for ``probe train``: read texts, prepare an objective, and run the training loop."""
