"""What the distances between sentence vectors keep, measured by triplets, without training."""
