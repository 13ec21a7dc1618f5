"""Word-by-word tokenisation equals the tokenisation of whole sentences."""

import lzma
from itertools import islice

import pytest
from helpers.shared import SHARED, needs_shared
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.corpus.table import load_tokenizer
from sentprobe.probes.corpus.trees import restore_written_forms, straighten, unescape_word
from sentprobe.probes.training.text_filters import tokenize

PARTS = """a I 1 é ' '' " ` `` . .. ... , : ; -- - n't 's 'S can not gonna wanna more 'n 'tis 't
d'ye is ( ) [ ] } > < “ ” ‘ ’ … — – « » ! ? $ % & * @ cannot 'll re"""
SPACES = ["\u0301", "\u3000", "\u00a0", "\u00ad", *[" "] * 60]


def tokenize_whole(text: str) -> list[str]:
    straight = straighten(" ".join(text.split()))
    (forms,) = restore_written_forms(straight, [load_tokenizer()(straight.text)])
    return [*map(unescape_word, forms)]


@examples(400)
@given(st.lists(st.sampled_from([*PARTS.split(), *SPACES]), max_size=14).map("".join))
def test_any_text_has_whole_tokens(text: str) -> None:
    assert tokenize(text) == tokenize_whole(text)


@needs_shared
@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_real_text_has_whole_tokens(count: int) -> None:
    with lzma.open(SHARED / "novels" / "sentences-5-28.txt.xz", "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, 25 * count, 25):
            assert tokenize(line) == tokenize_whole(line)


def test_long_word_has_whole_tokens() -> None:
    assert tokenize(f"see http://{'x' * 300}/ , now .") == tokenize_whole(f"see http://{'x' * 300}/ , now .")
