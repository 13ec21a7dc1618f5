"""The HTML report page: tables, controls, plots, and the commands that reproduce the results."""
