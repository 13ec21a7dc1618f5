"""Plots of results for the report page and for ``--plot``."""
