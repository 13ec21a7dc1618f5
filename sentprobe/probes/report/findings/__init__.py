"""Statistics of results: comparisons of encoders, tests against chance and controls, and incorrect answers."""
