"""Probing tasks, encoders, the classifiers trained on their vectors, and the results.

The names for everyday use are those of :mod:`sentprobe`.
"""
