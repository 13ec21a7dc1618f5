"""The audit of a dataset: the accuracy of surface cues, and upper bounds on it."""
