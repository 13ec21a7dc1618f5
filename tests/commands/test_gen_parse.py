"""The commands ``gen parse`` and ``gen show``."""

from pathlib import Path

import pytest
from gen_command import ALL_FORMATS, GOOD, Gen

from sentprobe.generator.sentence_files import read_file
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


def test_parse_gives_the_annotation_that_generating_gives(gen: Gen, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(("fmt", "suffix"), ALL_FORMATS.items())
def test_parse_into_a_file(gen: Gen, tmp_path: Path, fmt: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    done = gen("parse", GOOD, BAD, "--out", path)
    assert (done.code, done.out) == (1, "")
    assert [sentence.text for sentence in read_file(path, LEXICON)] == [GOOD]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert gen("parse", GOOD, "--out", tmp_path / "y", "--format", fmt).code == 0


def test_empty_lines_are_passed_over(gen: Gen) -> None:
    done = gen("parse", "--format", "text", stdin=b"\xef\xbb\xbfthe man slept\r\n\n  \nx\n")
    assert done.lines == [GOOD]
    assert "<stdin>:4: token 1" in done.err


# ------------------------------------------------------------------ show


def test_show(gen: Gen, tmp_path: Path) -> None:
    partial = gen("show", "help[past](agent: lawyer[pl])")
    assert (partial.code, partial.err) == (0, "")
    assert "help" in partial.out and "lawyer" in partial.out
    full = gen("show", FULL_EVENT, "--svg", tmp_path / "x.svg")
    assert full.lines[-1] == "the man slept"
    picture = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert picture.startswith("<") and "</svg>" in picture
    assert len(list(tmp_path.iterdir())) == 1
