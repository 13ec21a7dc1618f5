"""Results of a run: values, and the files that hold them."""
