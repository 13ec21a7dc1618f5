"""Training of a sentence encoder on opposites of a user's own texts, near its old vectors (``probe repair``)."""
