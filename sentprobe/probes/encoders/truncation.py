"""How many sentences a model reads only the beginning of."""

from collections.abc import Sequence
from typing import Any

AROUND = 16
"""A tokenizer puts no more tokens of its own around a sentence."""


def count_truncated(
    sentences: Sequence[str], tokenizer: Any, *, limit: int | None, prompt: str = ""
) -> int | None:
    """Return how many of the sentences have more tokens than are read; None: it is not known.

    Every token is of one byte at least, so that short sentences need not be looked at.

    - limit: so many tokens are read, with those around the sentence; None: all
    """
    if limit is None:
        return 0
    if not callable(tokenizer):
        return None
    texts = (prompt + sentence for sentence in sentences)
    long = [text for text in texts if len(text.encode()) + AROUND > limit]
    found = tokenizer(long, truncation=False, verbose=False)["input_ids"] if long else []
    return sum(len(tokens) > limit for tokens in found)
