"""Sentences: events realized as annotated sentences, and sentences parsed into events."""
