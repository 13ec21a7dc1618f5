"""Execution of a run: tasks, missing jobs, controls and vectors."""
