"""How many sentences a model reads only the beginning of."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

Counter: TypeAlias = Callable[[Sequence[str]], int | None]
"""Says of how many sentences a model reads only the beginning; None: it is not known."""

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


def counter_of(found: Any) -> Counter | None:
    """Return what counts for an object of somebody else's: its own, or that of its library's kind.

    Of objects that are no models of sentence-transformers, and have no method ``truncated``,
    nothing is known.
    """
    own = getattr(found, "truncated", None)
    if callable(own):
        counter: Counter = own
        return counter
    kinds = (each.__module__.partition(".")[0] for each in type(found).__mro__)
    return _counter_of_model(found) if "sentence_transformers" in kinds else None


def _counter_of_model(model: Any) -> Counter:
    prompt = (model.prompts or {}).get(model.default_prompt_name) or ""
    limit, tokenizer = model.max_seq_length, model.tokenizer
    return partial(count_truncated, tokenizer=tokenizer, limit=limit, prompt=prompt)
