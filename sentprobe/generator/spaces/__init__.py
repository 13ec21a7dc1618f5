"""Spaces of events: templates and constraints, counted, indexed and sampled."""
