"""Commands about data: corpora, datasets, vectors."""
