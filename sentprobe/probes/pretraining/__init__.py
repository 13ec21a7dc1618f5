"""Encoders trained here: texts, an objective, and the loop that fits a sentence model to it."""
