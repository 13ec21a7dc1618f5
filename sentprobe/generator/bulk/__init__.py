"""Bulk generation of sentences, and sentence files."""
