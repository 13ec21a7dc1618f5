"""The commands ``gen parse`` and ``gen show``."""

from pathlib import Path

import pytest
from helpers.gen_command import ALL_FORMATS, GOOD, Gen

from sentprobe.common.reading import MAX_LINE
from sentprobe.generator.bulk.generate import read_file
from sentprobe.lexicon import english

LEXICON = english()
FULL_EVENT = "sleep[intransitive, past, simple, pos, adv()](agent: the man[sg, bare])"
BAD = "the man sleep"


def test_parse_arguments(gen: Gen) -> None:
    done = gen("parse", GOOD, "the women dance", "--format", "trees")
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "(S (NP (DT the) (NN man)) (VP (VBD slept)))",
        "(S (NP (DT the) (NNS women)) (VP (VBP dance)))",
    ]


def test_parse_equals_generated_annotation(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    gen("-n", "40", "--out", path, "--adverbs", "0-2")
    parsed = tmp_path / "x.conllu"
    assert gen("parse", "--file", path, "--out", parsed).code == 0
    direct = tmp_path / "y.conllu"
    gen("-n", "40", "--out", direct, "--adverbs", "0-2")
    fields = ("id", "tokens", "tree", "event", "predicates", "negations")
    for one, two in zip(read_file(parsed, LEXICON), read_file(direct, LEXICON), strict=True):
        assert [getattr(one, f) for f in fields] == [getattr(two, f) for f in fields]


@pytest.mark.parametrize("where", ["arguments", "file", "stdin", "-"])
def test_failures_are_reported_and_the_rest_done(gen: Gen, tmp_path: Path, where: str) -> None:
    sentences = [GOOD, BAD, "the men slept", "nonsense"]
    text = "\n".join(sentences).encode() + b"\n"
    path = tmp_path / "x.txt"
    path.write_bytes(text)
    name = {"arguments": "sentence ", "file": f"{path}:"}.get(where, "<stdin>:")
    options = {"arguments": sentences, "file": ["--file", str(path)], "-": ["--file", "-"]}
    how = options.get(where, [])
    done = gen("parse", "--format", "text", *how, stdin=text)
    assert done.code == 1
    assert done.lines == [GOOD, "the men slept"]
    one, two = done.err.splitlines()
    assert one.startswith(f"gen: {name}2: token 3: expected ") and "not 'sleep'" in one
    assert two.startswith(f"gen: {name}4: token 1: expected ") and "not in the lexicon" in two


def test_too_long_sentence_is_a_failure(gen: Gen) -> None:
    done = gen("parse", "--format", "text", stdin=f"{'x ' * 6000}\n{GOOD}\n".encode())
    assert (done.code, done.lines) == (1, [GOOD])
    assert done.err == "gen: <stdin>:1: longer than 10,000 bytes, the longest sentence that is parsed\n"


def test_huge_line_ends_the_reading(gen: Gen) -> None:
    done = gen("parse", "--format", "text", stdin=f"{GOOD}\n{'x' * (MAX_LINE + 1)}\n".encode())
    assert (done.code, done.lines) == (1, [GOOD])
    assert done.err == "gen: <stdin>: line 2: longer than 1,048,576 bytes\n"


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_parse_into_a_file(gen: Gen, tmp_path: Path, fmt: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    done = gen("parse", GOOD, BAD, "--out", path)
    assert (done.code, done.out) == (1, "")
    assert [sentence.text for sentence in read_file(path, LEXICON)] == [GOOD]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert gen("parse", GOOD, "--out", tmp_path / "y", "--format", fmt).code == 0


def test_without_a_sentence_nothing_is_written(gen: Gen, tmp_path: Path) -> None:
    path, out = tmp_path / "empty.txt", tmp_path / "out.conllu"
    path.write_text("\n \n")
    done = gen("parse", "--file", path, "--out", out)
    assert (done.code, done.out, done.err) == (1, "", f"gen: {path}: there are no sentences in it\n")
    assert not out.exists()
    assert gen("parse", stdin=b"").err == "gen: <stdin>: there are no sentences in it\n"


def test_empty_lines_are_passed_over(gen: Gen) -> None:
    done = gen("parse", "--format", "text", stdin=b"\xef\xbb\xbfthe man slept\r\n\n  \nx\n")
    assert done.lines == [GOOD]
    assert "<stdin>:4: token 1" in done.err


TAKEN_OFF = "gen: normalized capitals, apostrophes or punctuation of {}\n"


def test_capitals_and_stop_are_normalized(gen: Gen) -> None:
    done = gen("parse", "-f", "text", "The man slept.", "THE MAN SLEPT .", GOOD)
    assert (done.code, done.lines) == (0, [GOOD] * 3)
    assert done.err == TAKEN_OFF.format("2 sentences")
    done = gen("parse", "-f", "conllu", stdin=b"The man slept.\r\n")
    assert f"# text = {GOOD}\n" in done.out
    assert done.err == TAKEN_OFF.format("1 sentence")


@pytest.mark.parametrize("word", ["did n't", "didn't", "didn\u2019t", "did n\u2019t", "DIDN\u02bcT", "didn\uff07t"])
def test_apostrophes_are_read_as_straight_ones(gen: Gen, word: str) -> None:
    done = gen("parse", "-f", "text", f"the man {word} sleep")
    assert (done.code, done.lines) == (0, ["the man did n't sleep"])
    strict = gen("parse", "-f", "text", "--strict", f"the man {word} sleep")
    assert strict.code == (word != "did n't")


def test_question_mark_is_for_questions(gen: Gen) -> None:
    done = gen("parse", "the man slept ?", "did the man sleep?", "the man slept!", "--format", "text")
    assert (done.code, done.lines) == (1, ["did the man sleep", "the man slept"])
    assert done.err.startswith("gen: sentence 1: the question mark ends a sentence that is not a question\n")


def test_misspelled_word_has_a_suggestion(gen: Gen) -> None:
    one, two, three = gen("parse", "the lawer slept", "the lawyer sleept", "xqzw slept").err.splitlines()
    assert one.endswith("not 'lawer' (not in the lexicon) (did you mean 'lawyer'?)")
    assert two.endswith("not 'sleept' (not in the lexicon) (did you mean 'slept'?)")
    assert three.endswith("not 'xqzw' (not in the lexicon)")
    (german,) = gen("parse", "--language", "de", "der Mannn schlief").err.splitlines()
    assert german.endswith("not 'Mannn' (not in the lexicon) (did you mean 'Mann'?)")


def test_strict_takes_them_for_mistakes(gen: Gen) -> None:
    done = gen("parse", "--strict", "-f", "text", "The man slept", "the man slept .", GOOD)
    assert (done.code, done.lines) == (1, [GOOD])
    one, two = done.err.splitlines()
    assert "sentence 1: token 1: " in one and "not 'The' (not in the lexicon)" in one
    assert "sentence 2: token 4: " in two and "not '.'" in two


def test_failing_sentence_is_named_once(gen: Gen) -> None:
    done = gen("parse", "The man sleep.", ".")
    assert (done.code, done.out) == (1, "")
    one, two = done.err.splitlines()
    assert "token 3: " in one and "not 'sleep'" in one
    assert "sentence 2: the sentence ends after token 0" in two


def test_file_in_place_of_a_sentence(gen: Gen, tmp_path: Path) -> None:
    path = tmp_path / "my sentences.txt"
    path.write_text(f"{GOOD}\n", encoding="utf-8")
    done = gen("parse", GOOD, path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"gen: {path}: is a file; gen parse --file '{path}' reads it\n"
    long = gen("parse", "x" * 5000)
    assert long.code == 1 and "token 1: " in long.err


def test_show(gen: Gen, tmp_path: Path) -> None:
    partial = gen("show", "help[past](agent: lawyer[pl])")
    assert (partial.code, partial.err) == (0, "")
    assert "help" in partial.out and "lawyer" in partial.out
    full = gen("show", FULL_EVENT, "--svg", tmp_path / "x.svg")
    assert full.lines[-2:] == ["the man slept", f"picture: {tmp_path / 'x.svg'}"]
    picture = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert picture.startswith("<") and "</svg>" in picture
    assert len(list(tmp_path.iterdir())) == 1
