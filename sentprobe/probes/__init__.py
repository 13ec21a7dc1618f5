"""Probing tasks, encoders, the classifiers trained on their vectors, and what they say.

The names for everyday use are those of :mod:`sentprobe`.
"""
