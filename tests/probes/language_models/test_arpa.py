"""N-gram models from ARPA files: equal to a recursive definition, and errors."""

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.errors import SentprobeError
from sentprobe.probes.language_models.arpa import NgramModel
from sentprobe.probes.language_models.scorers import ScoreKind, load_language_model, parse_models
from sentprobe.progress import SilentReporter

ARPA = """
\\data\\
ngram 1=6
ngram 2=2
ngram 3=1

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.5
-1.5\t</s>
-0.6\tthe\t-0.25
-0.7\tman\t-0.125
-0.9\tsleeps

\\2-grams:
-0.3\t<s> the\t-0.0625
-0.2\tthe man

\\3-grams:
-0.1\t<s> the man

\\end\\
"""


def load(path: Path, options: str = "") -> NgramModel:
    model = load_language_model(parse_models([f"ngram:{path}{options}"])[0])
    assert isinstance(model, NgramModel)
    return model


def test_back_off_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    (scores,) = load(path).score(["the man sleeps"], SilentReporter())
    # <s> the: listed; <s> the man: listed; the man sleeps: no weight of "the man", that of "man", then the word;
    # man sleeps </s>: none has a weight.
    by_hand = [-0.3, -0.1, -0.125 - 0.9, -1.5]
    assert scores.log_probabilities == pytest.approx([value * math.log(10) for value in by_hand])
    assert scores.spans == [(0, 3), (4, 7), (8, 14), (14, 14)]
    assert scores.compute_score(ScoreKind.CRITICAL, (8, 14)) == pytest.approx(-1.025 * math.log(10), abs=1e-5)


def test_words_as_in_the_treebank_unknown_words_and_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa.gz"
    path.write_bytes(gzip.compress(ARPA.encode()))
    upper, lower, odd = load(path), load(path, "?lower=yes"), load(path)
    (first,) = upper.score(["The man didn't."], SilentReporter())
    assert len(first.log_probabilities) == 6  # The man did n't . </s>
    assert upper.find_unknown(["The man didn't."]) == [["The", "did", "n't", "."]]
    (second,) = lower.score(["The man"], SilentReporter())
    assert second.log_probabilities[0] == pytest.approx(-0.3 * math.log(10))
    assert lower.find_unknown(["The man", ""]) == [[], []]
    assert len(odd.score(['a "'], SilentReporter())[0].log_probabilities) == 3


NAMES = ["<s>", "</s>", "<unk>", "a", "b", "c"]
NGRAMS = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3).map(tuple)
NUMBERS = st.tuples(st.floats(-5, 0), st.floats(-1, 1))


@given(
    st.fixed_dictionaries({(name,): NUMBERS for name in NAMES}),
    st.dictionaries(NGRAMS, NUMBERS, max_size=20),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=6),
)
def test_scores_are_those_of_the_recursive_definition(
    single: dict[tuple[str, ...], tuple[float, float]],
    several: dict[tuple[str, ...], tuple[float, float]],
    words: list[str],
) -> None:
    entries = single | several

    def compute(word: str, before: tuple[str, ...]) -> float:
        if (*before, word) in entries:
            return entries[*before, word][0]
        return (entries[before][1] if before in entries else 0.0) + compute(word, before[1:])

    known = ["<s>", *("<unk>" if word == "d" else word for word in words), "</s>"]
    expected = [compute(known[i], tuple(known[max(0, i - 2) : i])) * math.log(10) for i in range(1, len(known))]
    (scores,) = NgramModel("m", lambda _: (entries, 3)).score([" ".join(words)], SilentReporter())
    assert scores.log_probabilities == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an ARPA file"),
        ("the man sleeps\n", "not an ARPA file"),
        ("\\data\\\nngram 1=0\n\n\\1-grams:\n\n\\end\\\n", "not an ARPA file: it has no n-grams"),
        (ARPA.replace("\\end\\\n", ""), "does not end with"),
        (
            ARPA.replace("-0.2\tthe man", "-0.2\tthe"),
            "line 17: a logarithm, 2 words and an optional weight are expected",
        ),
        (ARPA.replace("-0.2\tthe man", "x\tthe man"), "line 17: a logarithm"),
        (ARPA.replace("-0.2\tthe man", "-0.2\tthe man x y"), "line 17: a logarithm"),
        (ARPA.replace("-0.0625", "nought"), "line 16: a logarithm"),
    ],
)
def test_files_that_are_no_models(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(text)
    with pytest.raises(SentprobeError, match=message):
        load(path).score(["the man"], SilentReporter())


def test_a_model_without_unknown_words(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA.replace("-1.0\t<unk>\n", ""))
    with pytest.raises(SentprobeError, match="lacks the word 'dog', and has no entry <unk>"):
        load(path).score(["the dog"], SilentReporter())
