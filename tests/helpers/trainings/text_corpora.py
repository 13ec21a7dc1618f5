"""Hypothesis strategies for documents of tokenised sentences."""

from hypothesis import strategies as st

tokens = st.text("abcXYZ019.,;!'\"()-éß“’—…あ", min_size=1, max_size=5)
"""Tokens without white space."""

sentences = st.lists(tokens, min_size=1, max_size=8).map(" ".join)

documents = st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=1, max_size=4).filter(
    lambda texts: sum(map(len, texts)) > 1
)
"""Non-empty documents with at least two sentences in total."""
