"""``probe check``: checks of claims about results. The table of checks is in :mod:`.checks`."""
