"""Training of probes: the classifiers of the papers, and the code that trains them with PyTorch."""
