"""``probe geometry``, distances between vectors; and ``probe gate``, false hits and misses of a threshold."""
