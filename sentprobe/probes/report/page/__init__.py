"""The HTML report page: tables, plots, the accuracy of control probes, and the commands that reproduce the results."""
