"""Results of a run: the classes of results, and their files in a results folder."""
