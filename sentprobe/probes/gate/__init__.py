"""``probe gate``: false hits and misses of a similarity threshold."""
