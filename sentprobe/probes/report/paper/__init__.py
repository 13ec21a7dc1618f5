"""Text for a paper: the methods section of a run."""
