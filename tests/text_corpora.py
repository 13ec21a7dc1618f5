"""Texts to learn from, drawn: documents of sentences in tokens."""

from hypothesis import strategies as st

_LETTERS = "abcXYZ019.,;!'\"()-éß“’—…\u00a0\u2028\x85\rあ"

tokens = st.text(_LETTERS, min_size=1, max_size=5).filter(
    lambda word: word.split() == [word] and word.isprintable()
)
"""A token has no white space in it."""

sentences = st.lists(tokens, min_size=1, max_size=8).map(" ".join)

documents = st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=1, max_size=4).filter(
    lambda found: sum(map(len, found)) > 1
)
"""Documents of two sentences or more altogether, none of them empty."""
