"""What stands in the way of a claim about results: a check a file, gathered in :mod:`.checks`."""
