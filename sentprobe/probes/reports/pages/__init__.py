"""The HTML report page, plots, and the methods paragraph of a paper."""
