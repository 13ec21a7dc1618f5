"""Runs on a Dask cluster: the jobs that workers execute, and the scheduler of these jobs."""
