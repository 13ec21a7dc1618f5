"""``probe geometry``: distances between the sentence vectors of triplets, without training."""
