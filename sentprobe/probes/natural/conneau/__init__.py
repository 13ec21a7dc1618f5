"""The ten tasks of Conneau et al. 2018, section 2."""
