"""Tasks for MTEB, and result files in MTEB's layout; only the tasks import MTEB."""
