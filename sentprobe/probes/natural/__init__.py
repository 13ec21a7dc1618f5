"""The natural-text tasks of Conneau et al. 2018 and Adi et al. 2017, from the table of a corpus."""
