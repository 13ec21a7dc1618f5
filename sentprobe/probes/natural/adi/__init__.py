"""The tasks of Adi et al. 2017, section 3: length, content and order."""
