"""Interventions on a transformers model: a direction of its states is exchanged between mirror sentences."""
