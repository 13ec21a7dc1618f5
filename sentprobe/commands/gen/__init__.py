"""The commands of ``gen``."""
