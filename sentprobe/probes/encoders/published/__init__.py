"""Encoders whose authors published the weights: InferSent, Skip-Thought and SDAE. No pickle is loaded."""
