"""False hits and misses of a similarity threshold."""
