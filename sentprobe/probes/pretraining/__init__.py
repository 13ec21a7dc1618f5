"""Training of encoders: texts, objectives, and the loop that fits a sentence model."""
