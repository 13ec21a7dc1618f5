"""Count the sentences that a model truncates."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sentprobe.probes.encoders.capabilities import TruncationCounter, read_attributes

MAX_SPECIAL_TOKENS = 16
"""Upper limit of the number of special tokens around a sentence."""


def count_truncated(sentences: Sequence[str], tokenizer: Any, *, limit: int | None, prompt: str = "") -> int | None:
    """Return how many sentences exceed the token limit of a model; None: unknown.

    Each token has at least one byte, so a sentence with fewer bytes than *limit* need not be tokenized.

    - limit: maximum number of tokens, special tokens included; None: no limit
    """
    if limit is None:
        return 0
    if not callable(tokenizer):
        return None
    texts = (prompt + sentence for sentence in sentences)
    long = [text for text in texts if len(text.encode()) + MAX_SPECIAL_TOKENS > limit]
    token_rows = tokenizer(long, truncation=False, verbose=False)["input_ids"] if long else []
    return sum(len(tokens) > limit for tokens in token_rows)


def count_none_truncated(sentences: Sequence[str]) -> int:  # noqa: ARG001
    """Return 0, for encoders without a limit."""
    return 0


def find_truncation_counter(model: Any) -> TruncationCounter | None:
    """Return the method ``truncated`` of an object, or a counter for sentence-transformers models, or None."""
    if counter := read_attributes(model).count_truncated:
        return counter
    libraries = (parent.__module__.partition(".")[0] for parent in type(model).__mro__)
    return _make_model_counter(model) if "sentence_transformers" in libraries else None


def _make_model_counter(model: Any) -> TruncationCounter:
    prompt = (model.prompts or {}).get(model.default_prompt_name) or ""
    limit, tokenizer = model.max_seq_length, model.tokenizer
    return partial(count_truncated, tokenizer=tokenizer, limit=limit, prompt=prompt)
