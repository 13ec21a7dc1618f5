"""Tables of results, and the notes below them."""
