"""Language models on minimal pairs."""
