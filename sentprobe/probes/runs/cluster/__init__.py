"""Runs on a Dask cluster: jobs of workers, and their results."""
