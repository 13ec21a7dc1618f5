"""Reports on results: comparisons, tables, plots, the HTML page, and text for a paper."""
