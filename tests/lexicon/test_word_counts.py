"""Files of word counts, and vocabularies and datasets without rare words."""

from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, UsageError
from sentprobe.lexicon import english
from sentprobe.lexicon.word_counts import find_rare_words, leave_out_rare_words, read_word_counts
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.runs.suite_options import CompevalOptions

VOCABULARY = "compeval"
FORMS = {
    lemma: {*english().get(lemma, kind).forms.values()}
    for kind, lemmas in english().vocabulary(VOCABULARY).words.items()
    for lemma in lemmas
}
EVERY_FORM = sorted({form for forms in FORMS.values() for form in forms})


def write_counts(path: Path, **rare: int) -> Path:
    """Write a count of 900 for each form of the vocabulary but those in *rare*."""
    path.write_text("".join(f"{form}\t{rare.get(form, 900)}\n" for form in EVERY_FORM))
    return path


@given(st.dictionaries(st.sampled_from(EVERY_FORM), st.integers(0, 9)), st.integers(1, 9))
def test_words_are_rare_if_one_of_their_forms_is(counts: dict[str, int], minimum: int) -> None:
    rare = find_rare_words(english(), VOCABULARY, counts, minimum=minimum)
    assert {*rare} == {lemma for lemma, forms in FORMS.items() if any(counts.get(form, 0) < minimum for form in forms)}
    for lemma, shown in rare.items():
        form, count = shown.split()
        assert form in FORMS[lemma]
        assert int(count) == min(counts.get(form, 0) for form in FORMS[lemma])


def test_frequent_words_leave_the_lexicon_as_it_is(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "counts", dance=50)
    assert leave_out_rare_words(english(), VOCABULARY, path, minimum=50) == (english(), "")


def test_blanks_and_tabs_separate_the_count(tmp_path: Path) -> None:
    (tmp_path / "counts").write_text("the 12\nman\t3\nman 3\n")
    assert read_word_counts(tmp_path / "counts") == {"the": 12, "man": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the 12\nman\n", "line 2: a word, a blank or tab, and its count are expected"),
        (b"New York 12\n", "line 1: a word, a blank or tab, and its count are expected"),
        (b"the -1\n", "line 1: a word, a blank or tab, and its count are expected"),
        (b"the 1\n\nman 1\n", "line 2: a word, a blank or tab, and its count are expected"),
        (b"the 1\nthe 2\n", "line 2: 'the' again, with another count"),
        (b"\xff 2\n", "line 1: not UTF-8"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "counts").write_bytes(content)
    with pytest.raises(FormatError) as error:
        read_word_counts(tmp_path / "counts")
    assert str(error.value) == f"{tmp_path / 'counts'}, {message}"


def test_datasets_lack_rare_words_and_their_cards_name_them(tmp_path: Path, command: Command) -> None:
    counts = write_counts(tmp_path / "counts.txt", students=49, really=0)
    line = ("build", "compeval", "--task", "Order", "--train", 112, "--test", 56, "--out", tmp_path / "data")
    check_success(command(*line, "--min-count", 50, "--counts", counts))
    data = read_dataset(tmp_path / "data" / "Order")
    assert "student" not in data.probe_words
    assert not any({"student", "students"} & {*sentence.split()} for sentence in data.sentences)
    assert data.card.notes == (
        "--min-count 50 leaves out 2 of 25 words, since a form of each is rarer in counts.txt: "
        "student (students 49), really (really 0)",
    )


def test_too_few_words_are_refused(tmp_path: Path, command: Command) -> None:
    line = ("build", "compeval", "--out", tmp_path / "data", "--counts", write_counts(tmp_path / "counts"))
    check_refusal(command(*line, "--min-count", 901), "--min-count 901 leaves vocabulary 'compeval' no noun")
    check_refusal(command(*line, "--min-count", 0), "--min-count 0: at least 1 is expected")
    check_refusal(command(*line), "--min-count and --counts need each other")
    with pytest.raises(UsageError, match="need each other"):
        CompevalOptions(min_count=50)
