"""Datasets, and their file formats: reading, writing, and recognition by the content."""
