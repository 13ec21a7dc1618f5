"""The five tasks of Ettinger et al. (2018), and the suite structure."""
