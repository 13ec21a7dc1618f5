"""The HTML page of a report: tables, control runs, plots, and the commands that reproduce it."""
