"""The XTAG database: its reader, a lexicon made from it, and its agreement with our forms."""

import gzip
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.shared import SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.lexicon import Flag, Form, Kind, Word, english, read_lexicon
from sentprobe.lexicon.read import read_lexicon_text
from sentprobe.lexicon.words import VERB_FORMS
from sentprobe.lexicon.xtag import Xtag, XtagError, lexicon_from_lemmas, parse_analyses, read_xtag

DATABASE = SHARED / "xtag" / "morph_english.flat.gz"
INFLECTED = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE)

SMALL = """\
;;; a comment
man \t\tman\tN 3sg#man\tV INF
men \t\tman\tN 3pl
men's \t\tman\tN 3pl GEN
king \t\tking\tN 3sg
hit \t\thit\tN 3sg#hit\tV PAST STR#hit\tV PPART STR#hit\tV INF
hits \t\thit\tN 3pl#hit\tV 3sg PRES
hitting \t\thit\tV PROG
they'd \t\tthey 'd\tNVC 3pl PRES#they 'd\tNVC 3pl PAST
often \t\toften\tAdv
old \t\told\tA
older \t\told\tA COMP
kneel \t\tkneel\tV INF
kneels \t\tkneel\tV 3sg PRES
kneeling \t\tkneel\tV PROG
kneeled \t\tkneel\tV PAST WK#kneel\tV PPART WK
knelt \t\tkneel\tV PAST STR#kneel\tV PPART STR
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A form of the built-in lexicon that the database lacks, and the reason for it."""

    lemma: str
    form: Form
    ours: str
    theirs: tuple[str, ...]
    reason: str


def list_absent_forms(lemma: str, reason: str, **ours: str) -> Iterator[Difference]:
    """Yield a difference for each form of a lemma that the database lacks."""
    for form, text in ours.items():
        yield Difference(lemma, Form[form], text, (), reason)


COMPOUND = "the database gives these spellings to the lemma with a hyphen"
DIFFERENCES = (
    *list_absent_forms("bookkeeper", COMPOUND, NN="bookkeeper", NNS="bookkeepers"),
    *list_absent_forms("firefighter", COMPOUND, NN="firefighter", NNS="firefighters"),
    *list_absent_forms("paramedic", "newer than the database", NN="paramedic", NNS="paramedics"),
    *list_absent_forms("king", "the database gives these spellings to the lemma kingbolt", NN="king", NNS="kings"),
    *list_absent_forms(
        "evaluate",
        "the database has its plain form and its -s only; regular",
        VBD="evaluated",
        VBG="evaluating",
        VBN="evaluated",
    ),
)


@pytest.fixture(scope="module")
def xtag() -> Xtag:
    return read_xtag(DATABASE)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@needs_shared
def test_forms_are_in_xtag_or_justified(xtag: Xtag) -> None:
    differing = {
        (word.lemma, form, text, xtag.get((word.lemma, form), ()))
        for kind in INFLECTED
        for word in list_published_words(kind)
        for form, text in word.forms.items()
        if text not in xtag.get((word.lemma, form), ())
    }
    assert differing == {(d.lemma, d.form, d.ours, d.theirs) for d in DIFFERENCES}
    assert all(d.reason for d in DIFFERENCES)


@needs_shared
def test_xtag_forms_rebuild_our_lexicon(xtag: Xtag) -> None:
    lemmas = {kind: [w.lemma for w in list_published_words(kind)] for kind in INFLECTED}
    text, omitted = lexicon_from_lemmas(xtag, lemmas)
    assert {o.lemma for o in omitted} == {d.lemma for d in DIFFERENCES}
    lexicon = read_lexicon_text(text, "xtag.toml")
    left_out = {(o.kind, o.lemma) for o in omitted}
    for kind in INFLECTED:
        ours = [w for w in list_published_words(kind) if (w.kind, w.lemma) not in left_out]
        assert [list_spellings(w) for w in lexicon.words(kind) if not w.phrase] == [list_spellings(w) for w in ours]


def list_published_words(kind: Kind) -> list[Word]:
    """Return the words of the vocabularies for Ettinger et al. (2018)."""
    lemmas = {lemma for name in ("published", "english") for lemma in english().vocabulary(name).words[kind]}
    return [word for word in english().words(kind) if word.lemma in lemmas]


def list_spellings(word: Word) -> tuple[str, dict[Form, str]]:
    return word.lemma, dict(word.forms)


@pytest.mark.parametrize("compressed", [False, True])
def test_read_small(tmp_path: Path, *, compressed: bool) -> None:
    path = tmp_path / "small.flat"
    data = SMALL.encode()
    path.write_bytes(gzip.compress(data) if compressed else data)
    small = read_xtag(path)
    assert small["man", Form.NNS] == ("men",)
    assert small["man", Form.VB] == small["man", Form.VBP] == ("man",)
    assert small["kneel", Form.VBD] == ("kneeled", "knelt")
    assert small.get(("they 'd", Form.VBD), ()) == small.get(("king", Form.NNS), ()) == ()
    assert [small["hit", f] for f in VERB_FORMS] == [*[("hit",), ("hit",), ("hits",), ("hit",), ("hitting",), ("hit",)]]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_letters_outside_ascii(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "fiancé.flat"
    path.write_bytes("fiancés \t\tfiancé\tN 3pl\n".encode(encoding))
    assert read_xtag(path)["fiancé", Form.NNS] == ("fiancés",)


def test_lexicon_of_lemmas(tmp_path: Path) -> None:
    small = read_xtag(write(tmp_path / "small.flat", SMALL))
    text, omitted = lexicon_from_lemmas(
        small,
        {
            Kind.NOUN: ["man", "king"],
            Kind.TRANSITIVE: ["hit"],
            Kind.INTRANSITIVE: ["kneel", "sleep"],
            Kind.ADJECTIVE: ["old", "older"],
            Kind.ADVERB: ["often"],
        },
    )
    assert [str(out) for out in omitted] == [
        "noun 'king' left out: XTAG lacks NNS",
        "intransitive 'sleep' left out: XTAG lacks VB, VBP, VBZ, VBD, VBG, VBN",
        "adjective 'older' left out: XTAG lacks JJ",
    ]
    lexicon = read_lexicon_text(text, "small.toml")
    assert lexicon.get("kneel", Kind.INTRANSITIVE).forms[Form.VBD] == "knelt"
    assert lexicon.get("hit", Kind.TRANSITIVE).flags == {Flag.SYNCRETIC}
    assert lexicon.vocabulary("xtag").words[Kind.NOUN] == ("man",)
    assert [word.lemma for word in lexicon.words(Kind.RELATIVIZER)] == ["that", "who", "which"]


BAD_LINES = ("men", "men \t\tman", "men \t\tman\tN 3pl#", " \t\tman\tN 3pl", "men \tman\tN", "a\t\t\tN")


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "bad.flat", f"{SMALL}{line}\n")
    with pytest.raises(XtagError, match=rf"bad\.flat:{SMALL.count(chr(10)) + 1}: not a line of"):
        read_xtag(path)


@pytest.mark.parametrize("data", [None, gzip.compress(b"x" * 99)[:-9], b"\x1f\x8b\x08junk"])
def test_unreadable_file_is_refused(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "broken.gz"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(XtagError, match="cannot read the XTAG database: ") as caught:
        read_xtag(path)
    assert caught.value.exit_code == 2


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sentprobe.lexicon", "xtag", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8")


def test_command_makes_lexicon(tmp_path: Path) -> None:
    database, out = write(tmp_path / "small.flat", SMALL), tmp_path / "mine.toml"
    nouns = write(tmp_path / "nouns.txt", "man\nking\nman\n")
    options = ("--noun", f"@{nouns}", "--transitive", "hit", "--intransitive", "kneel")
    done = run(database, *options, "--out", out)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "sentprobe.lexicon: noun 'king' left out: XTAG lacks NNS\n"
    vocabulary = read_lexicon(out).vocabulary("xtag")
    assert vocabulary.words[Kind.NOUN] == ("man",)
    assert vocabulary.words[Kind.INTRANSITIVE] == ("kneel",)


WHOLE = ("--noun", "man", "--transitive", "hit")


@pytest.mark.parametrize(
    ("database", "options", "out", "message"),
    [
        ("small.flat", ("--noun", "king"), "mine.toml", "small.flat: a lexicon needs a noun ("),
        ("none.flat", WHOLE, "mine.toml", "none.flat: cannot read the XTAG database: No such"),
        ("small.flat", ("--noum", "man"), "mine.toml", "unrecognized arguments: --noum"),
        ("small.flat", ("--noun", "@none.txt"), "mine.toml", "No such file or directory: 'none.txt"),
        ("small.flat", WHOLE, "gone/mine.toml", "mine.toml: cannot write there: No such file"),
    ],
)
def test_xtag_command_refuses(tmp_path: Path, database: str, options: tuple[str, ...], out: str, message: str) -> None:
    write(tmp_path / "small.flat", SMALL)
    done = run(tmp_path / database, *options, "--out", tmp_path / out)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / out).exists()


word = st.from_regex(r"[a-z']{1,8}", fullmatch=True)
noun_or_verb = st.sampled_from([("N 3sg", Form.NN), ("N 3pl", Form.NNS), ("V PROG", Form.VBG), ("V PAST WK", Form.VBD)])


@given(word, st.lists(st.tuples(word, noun_or_verb), min_size=1))
def test_each_analysis_of_line_is_read(text: str, rows: list[tuple[str, tuple[str, Form]]]) -> None:
    line = f"{text} \t\t" + "#".join(f"{lemma}\t{tags}" for lemma, (tags, _) in rows)
    assert list(parse_analyses(line, "x:1")) == [(lemma, form, text) for lemma, (_, form) in rows]
