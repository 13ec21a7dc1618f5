"""Subwords: round trip, determinism, and no code over two words."""

import sys

import pytest
from helpers.thoroughness import examples
from helpers.trainings.pretraining_pieces import sentences
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.training import decoder as sw

pytest.importorskip("tokenizers")


TEXTS = sentences(75)
LEARNED = sw.learn_subwords(TEXTS, codes=300)


@examples(60)
@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=3))
def test_codes_round_trip_any_text(texts: list[str]) -> None:
    rows = LEARNED.encode(texts)
    assert LEARNED.decode(rows[place] for place in range(len(rows))) == texts


@examples(50)
@given(st.lists(st.sampled_from(" ".join(TEXTS).split()), min_size=1, max_size=8))
def test_codes_span_no_two_words(words: list[str]) -> None:
    (sentence_codes,) = (LEARNED.encode([" ".join(words)])[0],)
    parts = LEARNED.encode([words[0], *(f" {word}" for word in words[1:])])
    assert sentence_codes.tolist() == parts.tokens.tolist()


def test_number_of_codes_is_as_asked() -> None:
    assert len(LEARNED) == 300
    tokens = LEARNED.encode(TEXTS).tokens
    assert tokens.min() >= sw.SPECIAL_CODES
    assert tokens.max() < 300
    assert len(sw.learn_subwords(["a"], codes=300)) == sw.MIN_CODES


def test_special_codes_have_no_text() -> None:
    (row,) = (LEARNED.encode(["Ann saw"])[0].tolist(),)
    assert len(row) < len("Ann saw")
    assert LEARNED.decode([[sw.START, *row, sw.END, sw.PADDING]]) == ["Ann saw"]


def test_learning_is_deterministic() -> None:
    assert sw.learn_subwords(TEXTS, codes=300).to_json() == LEARNED.to_json()


def test_too_few_codes_are_refused() -> None:
    with pytest.raises(UsageError, match="258 codes: 259 are needed for bytes, padding, start"):
        sw.learn_subwords(TEXTS, codes=258)


def test_missing_tokenizers_names_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EncoderError, match=r"^a decoder of subwords needs the extra: pip install "):
        sw.learn_subwords(TEXTS, codes=300)
