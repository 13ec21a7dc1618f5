"""``probe audit``: the accuracy of surface cues on a dataset, and upper bounds on this accuracy."""
