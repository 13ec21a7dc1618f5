"""Encoder specs, the table of kinds, and the check of what an encoder returns."""

import sys
from typing import Any

import numpy as np
import pytest
from helpers.strategies.encoder_strategies import words
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError, format_install
from sentprobe.common.specs import Spec, parse_spec
from sentprobe.probes.encoders import kinds
from sentprobe.probes.encoders.encoder import EncoderError, check_vectors
from sentprobe.probes.encoders.kinds import (
    ENCODERS,
    MODULES,
    EncoderKind,
    SpecArgument,
    find_kind,
    make_encoder,
    make_encoders,
)

values = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)


@given(words, words | st.just(""), st.dictionaries(words, values | words, max_size=3))
def test_spec_round_trips(kind: str, argument: str, options: dict[str, str]) -> None:
    spec = Spec(kind, argument, tuple(options.items()))
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("st:m?prompt=query: ", "query: "),
        ("st:m?prompt=a%26b", "a&b"),
        ("st:m?prompt=100%25", "100%"),
        ("st:m?prompt=100%", "100%"),
        ("st:m?prompt=a=b?c+d", "a=b?c+d"),
    ],
)
def test_value_of_an_option(text: str, value: str) -> None:
    assert parse_spec(text).options == (("prompt", value),)


def test_a_colon_may_be_in_the_argument() -> None:
    assert parse_spec("python:module:encode") == Spec("python", "module:encode")


KNOWN = ", ".join(kind.name for kind in ENCODERS)

BAD_SPECS: list[tuple[str, str]] = [
    ("bwo", f"unknown encoder 'bwo' (did you mean 'bow'?); known: {KNOWN}"),
    ("bilstm-mxa", "did you mean 'bilstm-max'?"),
    ("bow?dmi=3", "bow has no option 'dmi' (did you mean 'dim'?); its options: dim, seed"),
    ("bow?layers=2", "bow has no option 'layers'"),
    ("bow?dim=0", "option dim=0: a whole number from 1 is expected"),
    ("bow?dim=x", "option dim=x: a whole number from 1 is expected"),
    ("bow?dim=٣", "option dim=٣: a whole number from 1 is expected"),
    ("bow?seed=-1", "option seed=-1: a whole number from 0 to 4611686018427387904 is expected"),
    ("bow?dim", "option 'dim' is not of the form key=value"),
    ("file", "encoder 'file' wants an argument, as in file:"),
    ("python", "encoder 'python' wants an argument, as in python:"),
    ("bow\0", r"encoder spec 'bow\x00' has a control character"),
    ("bow:a\0b", "has a control character"),
    ("st:\x1b[31m", "has a control character"),
    ("bow:a\nb?dim=3", "has a control character"),
    ("infersent:a?vectors=a%00b", "has a control character"),
    (":x", "names no kind"),
    ("", "names no kind"),
]


@pytest.mark.parametrize(("spec", "message"), BAD_SPECS)
def test_refused_spec(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_encoder(spec, seed=0)
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ENCODERS, ids=lambda kind: str(kind.name))
def test_each_example_is_of_its_kind(kind: EncoderKind) -> None:
    assert find_kind(kind.example) is kind
    assert MODULES.get(kind.extra, kind.extra).isidentifier() == bool(kind.extra)


def test_names_of_kinds_are_distinct() -> None:
    assert len({kind.name for kind in ENCODERS}) == len(ENCODERS)


TWO = EncoderKind("two", "", lambda _, seed: make_encoders("bow", seed=seed) * 2, SpecArgument.NONE)


class Guess:
    """A baseline."""

    name = "guess"
    fingerprint = "0"

    def predict(self, data: Any, *, seed: int) -> Any:
        raise NotImplementedError


GUESS = EncoderKind("guess", "", lambda _, __: [Guess()], SpecArgument.NONE)
AWAY = EncoderKind("away", "", lambda _, __: [], SpecArgument.NONE, extra="much")


@pytest.fixture
def more_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "ENCODERS", (*ENCODERS, TWO, GUESS, AWAY))


@pytest.mark.usefixtures("more_kinds")
def test_a_spec_may_ask_for_several_encoders_or_a_baseline() -> None:
    assert len(make_encoders("two", seed=0)) == 2
    assert make_encoders("guess", seed=0)[0].name == "guess"
    with pytest.raises(UsageError, match="'two' asks for 2 encoders; one is expected here"):
        make_encoder("two", seed=0)
    with pytest.raises(UsageError, match="'guess' is a baseline, which has no vectors"):
        make_encoder("guess", seed=0)
    with pytest.raises(UsageError, match="encoder 'two' takes no argument, but has 'x'"):
        make_encoders("two:x", seed=0)


@pytest.mark.usefixtures("more_kinds")
def test_an_extra_is_not_installed() -> None:
    with pytest.raises(EncoderError) as caught:
        make_encoders("away", seed=0)
    assert str(caught.value) == f"an encoder away needs the extra: {format_install('much')}"


def test_the_extra_of_a_kind_in_the_table_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EncoderError, match=r"pip install .*\[sentence-transformers\]"):
        make_encoder("st:some/model", seed=0)


BAD_VECTORS: list[tuple[Any, str]] = [
    (np.zeros((3, 2)), "returned 3 rows for 2 sentences"),
    (np.zeros(2), "array of shape (2,)"),
    (np.zeros((2, 0)), "array of shape (2, 0)"),
    (np.zeros((2, 2), dtype=int), "returned int64"),
    (np.array([["a"], ["b"]]), "returned <U1"),
    (np.array([[0.0], [np.nan]]), "not finite for the sentence 'b'"),
    (np.array([[1e300], [0.0]]), "not finite for the sentence 'a'"),
]


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_refused_vectors(vectors: Any, message: str) -> None:
    with pytest.raises(EncoderError) as caught:
        check_vectors(vectors, sentences=["a", "b"], encoder="mine")
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floating_vectors_become_float32(dtype: Any) -> None:
    vectors = check_vectors(np.ones((1, 3), dtype), sentences=["a"], encoder="mine")
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
