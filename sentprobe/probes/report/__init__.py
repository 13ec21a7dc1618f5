"""Results as tables, plots, a page, and comparisons."""
