"""N-gram models from ARPA files: equal to a recursive definition, and errors."""

import gzip
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.language_models.arpa import NgramModel, parse_arpa
from sentprobe.probes.language_models.kneser_ney import train_ngrams
from sentprobe.probes.language_models.scorers import ScoreKind, load_language_model, parse_models

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


def test_words_are_tokenized_as_treebank(tmp_path: Path) -> None:
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
NUMBERS = st.tuples(st.floats(-5, -2), st.floats(-1, 1))  # no sum is above 0


@given(
    st.fixed_dictionaries({(name,): NUMBERS for name in NAMES}),
    st.dictionaries(NGRAMS, NUMBERS, max_size=20),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=6),
)
def test_scores_follow_recursive_definition(
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


def swap_sections(text: str) -> str:
    head, first, second, third = text.removesuffix("\\end\\\n").split("\n\n\\")
    return "\n\n\\".join([head, second, first, third]) + "\\end\\\n"


DAMAGED: list[tuple[str, str]] = [
    ("", "line 1: not an ARPA file, or cut off"),
    ("the man sleeps\n" * 1001 + ARPA, "line 1001: not an ARPA file: .data. is expected in the first 1000 lines"),
    ("the man sleeps\n", "line 1: not an ARPA file, or cut off"),
    ("\\data\\\nngram 1=0\n\n\\1-grams:\n\n\\end\\\n", "line 2: the model has no n-grams"),
    (ARPA.replace("\\end\\\n", ""), "line 21: not an ARPA file, or cut off"),
    (ARPA.replace("-0.2\tthe man", "-0.2\tthe"), "line 17: a logarithm, 2 words and an optional weight are expected"),
    (ARPA.replace("-0.2\tthe man", "x\tthe man"), "line 17: a logarithm"),
    (ARPA.replace("-0.2\tthe man", "-0.2\tthe man x y"), "line 17: a logarithm"),
    (ARPA.replace("-0.2\tthe man", "-1_0\tthe man"), "line 17: a logarithm"),
    (ARPA.replace("-0.2\tthe man", "-\u0661\tthe man"), "line 17: a logarithm"),
    (ARPA.replace("-0.0625", "nought"), "line 16: a logarithm"),
    (ARPA.replace("-0.0625", "nan"), "line 16: a logarithm and an optional weight are expected, as finite numbers"),
    (ARPA.replace("-0.6\tthe", "nan\tthe"), "line 11: a logarithm"),
    (ARPA.replace("-0.9\tsleeps", "-inf\tsleeps"), "line 13: a logarithm"),
    (ARPA.replace("-0.2\tthe man", "0.2\tthe man"), "line 17: a log probability above 0: 0.2"),
    (ARPA.replace("ngram 2=2", "ngram 2=3"), "line 19: 2 2-grams end here, and the header states 3"),
    (ARPA.replace("ngram 1=6\n", ""), "line 3: ngram 1= with the number of n-grams is expected"),
    (ARPA.replace("ngram 3=1\n", ""), "line 18: .end. is expected"),
    (ARPA.replace("\\2-grams:", "\\0-grams:"), "line 15: .2-grams: is expected"),
    (ARPA.replace("\\3-grams:", "\\" + "9" * 5000 + "-grams:"), "line 19: .3-grams: is expected"),
    (ARPA.replace("ngram 3=", "ngram 3=" + "9" * 5000), "line 5: .1-grams: is expected"),
    (ARPA.replace("-0.2\tthe man", "-0.2\t<s> the"), "line 17: this 2-gram is listed twice"),
    (
        ARPA.replace("-0.2\tthe man", "-0.2\tman sleeps\n-0.2\tman sleeps").replace("ngram 2=2", "ngram 2=3"),
        "line 18: this 2-gram is listed twice",  # of words in no scored text
    ),
    (ARPA.replace("-0.9\tsleeps", "-0.9\tthe"), "line 13: this 1-gram is listed twice"),
    (ARPA.replace("-0.7\tman", "-0.7\twoman"), "line 17: 'man' is not among the 1-grams"),
    (ARPA.replace("-0.2\tthe man", "-0.2\tthe </s"), "line 17: '</s' is not among the 1-grams"),  # in no scored text
    (ARPA.replace("-0.1\t<s> the man", "-0.1\t<s> teh man"), "line 20: 'teh' is not among the 1-grams"),
    (swap_sections(ARPA), "line 7: .1-grams: is expected"),
    (ARPA[: ARPA.index("-0.7")], "line 11: not an ARPA file, or cut off"),
]


@pytest.mark.parametrize(("text", "message"), DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_model_is_refused_with_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(text)
    with pytest.raises(SentprobeError, match=message) as caught:
        load(path).score(["the man"], SilentReporter())
    assert str(path) in str(caught.value)


ODD_NUMBERS = ["nan", "inf", "-inf", "1e999", "x", "-0.1.2", "\u0663"]


def damage(text: str, data: st.DataObject) -> str:
    """Cut the text; remove, repeat or move a line; or replace a number by something that is no finite number."""
    kind, lines = data.draw(st.sampled_from(["cut", "remove", "repeat", "move", "field"])), text.split("\n")
    if kind == "cut":
        return text[: data.draw(st.integers(0, len(text)))]
    row = data.draw(st.integers(0, len(lines) - 1))
    if kind == "field":
        numbers = [*re.finditer(r"(?<!\S)-?[0-9.]+(?!\S)", text)]
        start, end = data.draw(st.sampled_from(numbers)).span()
        return text[:start] + data.draw(st.sampled_from(ODD_NUMBERS)) + text[end:]
    place = data.draw(st.integers(0, len(lines)))
    copies = [] if kind == "remove" else [lines[row]]
    kept = lines if kind == "repeat" else [*lines[:row], *lines[row + 1 :]]
    lines = [*kept[:place], *copies, *kept[place:]]
    return "\n".join(lines)


@given(st.lists(st.text("abc ", min_size=1).filter(str.strip), min_size=1, max_size=8), st.data())
def test_random_damage_is_refused_or_harmless(texts: list[str], data: st.DataObject) -> None:
    text = "".join(train_ngrams(texts, order=3, words=9))
    words = frozenset({"<s>", "</s>", "<unk>", "a", "b", "c"})
    damaged = damage(text, data)
    try:
        entries = parse_arpa(damaged.splitlines(keepends=True), words)
    except SentprobeError as error:
        assert re.match(r"line \d+: ", str(error))
    else:
        assert entries == parse_arpa(text.splitlines(keepends=True), words)


def test_only_ascii_blanks_separate_words() -> None:
    text = ARPA.replace("<unk>", "<UNK>").replace("sleeps", "\u3000").replace("the man", "the  man \r")
    entries, _ = parse_arpa(text.splitlines(keepends=True), {"\u3000", "<unk>", "the", "man"})
    assert {("\u3000",): (-0.9, 0.0), ("<unk>",): (-1.0, 0.0), ("the", "man"): (-0.2, 0.0)}.items() <= entries.items()


def test_model_is_refused_when_scoring(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA.replace("-1.0\t<unk>\n", "").replace("ngram 1=6", "ngram 1=5"))
    with pytest.raises(SentprobeError, match="lacks the word 'dog', and has no entry <unk>"):
        load(path).score(["the dog"], SilentReporter())
    path.write_text(ARPA.replace("man\t-0.125", "man\t1.5"))  # 1.5 - 0.9 > 0
    with pytest.raises(SentprobeError, match=r"lm\.arpa gives a word of 'the man sleeps' a probability above 1"):
        load(path).score(["the man sleeps"], SilentReporter())
    path.write_text(ARPA.replace("man\t-0.125", "man\t0.900001"))  # rounding
    load(path).score(["the man sleeps"], SilentReporter())
