"""Pictures of results: plots for the page and for ``--plot``."""
