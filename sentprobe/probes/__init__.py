"""Probing tasks, encoders, classifiers and results; the names for everyday use are those of :mod:`sentprobe`."""
