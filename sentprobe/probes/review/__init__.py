"""Checks of claims about results: one check per file, listed in :mod:`.checks`."""
