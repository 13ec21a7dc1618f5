"""Tasks for MTEB, and results in its layout; MTEB is imported when a task is made."""
