"""Checks of claims about results, listed in :mod:`.checks`."""
