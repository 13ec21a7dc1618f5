"""Commands that read the results of other commands."""
