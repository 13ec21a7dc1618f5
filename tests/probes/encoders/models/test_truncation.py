"""How many sentences a model cuts: as its tokenizer counts, and asked of as few as can be."""

from collections.abc import Sequence

from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.encoders.encoder import count_truncated_sentences
from sentprobe.probes.encoders.models.model_loading import MAX_SPECIAL_TOKENS, count_truncated
from sentprobe.probes.encoders.word_vectors import Bow, sample_word_vectors


class Letters:
    """A tokenizer with a token for each byte and two around them; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str], *, truncation: bool, verbose: bool) -> dict[str, list[list[int]]]:
        assert not truncation
        assert not verbose
        self.asked += texts
        return {"input_ids": [[0, *text.encode(), 1] for text in texts]}


@examples(100)
@given(st.lists(st.text(max_size=40)), st.integers(1, 60), st.text(max_size=3))
def test_truncated_count_equals_tokenizer(texts: list[str], limit: int, prompt: str) -> None:
    letters = Letters()
    actual = count_truncated(texts, letters, limit=limit, prompt=prompt)
    assert actual == sum(len((prompt + text).encode()) + 2 > limit for text in texts)
    assert all(len(text.encode()) + MAX_SPECIAL_TOKENS > limit for text in letters.asked)


def test_truncated_count_needs_limit_and_tokenizer() -> None:
    assert count_truncated(["a" * 9999], None, limit=None) == 0
    assert count_truncated(["a" * 9999], None, limit=8) is None
    assert count_truncated_sentences(Bow("bow", sample_word_vectors(seed=0, dim=2)), ["a"]) is None
