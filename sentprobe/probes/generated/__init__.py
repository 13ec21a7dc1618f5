"""The suites ``compeval`` (the five tasks of Ettinger et al. 2018) and ``structure``."""
