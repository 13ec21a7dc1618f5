"""Encoding with and without the embedding cache."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.strategies.cache_strategies import HashingEncoder, expected, list_vector_files_below, texts
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import CHUNK, embed
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder, read_spec
from sentprobe.probes.encoders.vector_formats import write_vectors


@given(texts)
def test_rows_follow_the_sentences(sentences: list[str]) -> None:
    encoder = HashingEncoder()
    vectors = embed(encoder, sentences)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected(sentences, encoder=encoder))
    assert sorted(encoder.seen) == sorted(set(sentences))


@given(texts, st.data())
def test_batches_are_sorted_by_length(sentences: list[str], data: st.DataObject) -> None:
    first, second = HashingEncoder(), HashingEncoder()
    embed(first, sentences)
    embed(second, data.draw(st.permutations(sentences)))
    assert first.seen == second.seen
    lengths = [len(text) for text in first.seen]
    assert lengths == sorted(lengths, reverse=True)


def test_vectors_of_a_file_belong_to_the_caller(tmp_path: Path) -> None:
    sentences = ["the man slept", "the duck slept"]
    write_vectors(tmp_path / "v.npz", sentences, np.eye(2, dtype=np.float32))
    encoder = make_encoder(read_spec(f"file:{tmp_path / 'v.npz'}"))
    vectors = embed(encoder, sentences)
    vectors -= 1
    np.testing.assert_array_equal(embed(encoder, sentences), np.eye(2))


def test_sentences_come_in_batches() -> None:
    encoder = HashingEncoder()
    sentences = [f"s{n}" for n in range(2 * CHUNK + 1)]
    assert embed(encoder, sentences * 2).shape == (2 * len(sentences), 3)
    assert encoder.calls == [CHUNK, CHUNK, 1]


class RecordingReporter(SilentReporter):
    """A reporter that records its calls."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int]] = []
        self.done = 0

    def begin(self, step: str, total: int) -> None:
        self.steps.append((step, total))

    def advance(self, amount: int = 1) -> None:
        self.done += amount


def test_progress_counts_cached_sentences(tmp_path: Path) -> None:
    for sentences in (["a", "b"], ["a", "b", "c", "c"]):
        reporter = RecordingReporter()
        embed(HashingEncoder(), sentences, cache=Cache(tmp_path), reporter=reporter)
        distinct = len(set(sentences))
        assert reporter.steps == [("encode sentences with hashing", distinct)]
        assert reporter.done == distinct


@pytest.mark.parametrize(
    ("name", "shown"), [("x" * 36, "x" * 36), ("x" * 60 + "?batch=64", "…" + "x" * 26 + "?batch=64")]
)
def test_long_name_is_shortened(name: str, shown: str) -> None:
    reporter = RecordingReporter()
    embed(HashingEncoder(name=name), ["a"], reporter=reporter)
    assert reporter.steps == [(f"encode sentences with {shown}", 1)]


def test_uncacheable_encoder_skips_the_cache(tmp_path: Path) -> None:
    class Quick(HashingEncoder):
        cacheable = False

    for encoder in (Quick(), HashingEncoder(fingerprint="")):
        embed(encoder, ["a"], cache=Cache(tmp_path))
        embed(encoder, ["a"], cache=Cache(tmp_path))
        assert encoder.seen == ["a", "a"]
    assert list(tmp_path.iterdir()) == []


def test_no_sentences_are_refused() -> None:
    with pytest.raises(UsageError, match="there are no sentences to encode"):
        embed(HashingEncoder(), [])


class CustomEncoder(HashingEncoder):
    """An encoder with any return value."""

    give: Callable[[Sequence[str]], object]

    def encode(self, sentences: Sequence[str]) -> Any:
        return self.give(sentences)


def full(value: object, *shape: int, dtype: str = "float32") -> Callable[[Sequence[str]], object]:
    return lambda sentences: np.full((len(sentences), *shape), value, dtype=dtype)


def make_raising_function(error: BaseException) -> Callable[[Sequence[str]], object]:
    def give(_: Sequence[str]) -> object:
        raise error

    return give


BAD_RETURNS = {
    "a row too few": (lambda s: np.ones((len(s) - 1, 3)), "returned 1 rows for 2 sentences"),
    "nan": (full(np.nan, 3), "not finite for the sentence 'bb'"),
    "infinite": (full(1e300, 3, dtype="float64"), "not finite for the sentence 'bb'"),
    "integers": (full(1, 3, dtype="int64"), "returned int64; floating point is expected"),
    "flat": (full(1.0), r"shape \(2,\); expected \(sentences, dim\)"),
    "no width": (full(1.0, 0), r"shape \(2, 0\)"),
    "ragged": (lambda _: [[1.0], [1.0, 2.0]], "failed on 2 sentences .*ValueError"),
    "raises": (
        make_raising_function(RuntimeError("no\n memory ")),
        r"encoder hashing failed on 2 sentences \(the first: 'bb'\): RuntimeError: no memory$",
    ),
    "raises nothing to read": (make_raising_function(KeyError()), "KeyError: no message"),
    "raises ours": (make_raising_function(EncoderError("the word is unknown")), "^the word is unknown$"),
}


def test_exhausted_memory_is_no_encoder_error(tmp_path: Path) -> None:
    """The command line says so in one sentence."""
    encoder = CustomEncoder()
    error = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 20673368 bytes")
    encoder.give = make_raising_function(error)
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"):
        embed(encoder, ["a", "bb"], cache=Cache(tmp_path))
    assert list_vector_files_below(tmp_path) == []


@pytest.mark.parametrize("case", BAD_RETURNS)
def test_bad_return_value_is_refused(case: str, tmp_path: Path) -> None:
    encoder = CustomEncoder()
    encoder.give, message = BAD_RETURNS[case]
    with pytest.raises(EncoderError, match=message):
        embed(encoder, ["a", "bb"], cache=Cache(tmp_path))
    assert list_vector_files_below(tmp_path) == []


def test_interrupt_passes() -> None:
    encoder = CustomEncoder()
    encoder.give = make_raising_function(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        embed(encoder, ["a"])


def test_changed_width_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentprobe.probes.encoders.embedding.CHUNK", 2)
    encoder = CustomEncoder()
    encoder.give = lambda sentences: np.ones((len(sentences), 1 + len(sentences)), np.float32)
    message = "encoder hashing returned vectors of width 2 after vectors of width 3$"
    with pytest.raises(EncoderError, match=message):
        embed(encoder, ["a", "b", "c"])


def test_width_unlike_cache_is_refused(tmp_path: Path) -> None:
    embed(HashingEncoder(dim=3), ["a"], cache=Cache(tmp_path))
    with pytest.raises(EncoderError) as caught:
        embed(HashingEncoder(dim=4), ["a", "b"], cache=Cache(tmp_path))
    assert str(caught.value) == (
        "encoder hashing returned vectors of width 4 after vectors of width 3; some may be from "
        f"the cache {tmp_path}: if the encoder was changed, remove them with "
        "`probe cache clear`, or pass --no-cache"
    )
    assert len(list_vector_files_below(tmp_path)) == 1


@pytest.mark.parametrize("spec", ["bilstm-max?dim=8&hidden=6&batch=3", "bow?dim=8"])
def test_real_encoder_is_cached_exactly(spec: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sentences = ["the man slept", "the man", "the doctor saw the man", "the man"]
    encoder = make_encoder(spec, seed=0)
    with caplog.at_level(logging.WARNING):
        without = embed(encoder, sentences)
        first, second = (embed(encoder, sentences, cache=Cache(tmp_path)) for _ in range(2))
    np.testing.assert_allclose(without, encoder.encode(sentences), atol=1e-6)
    np.testing.assert_array_equal(first, without)
    np.testing.assert_array_equal(second, without)
    assert caplog.messages == []
