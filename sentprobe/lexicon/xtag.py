r"""Lexicons with inflected forms from XTAG, a morphological database of English.

The database's flat format has a line for each inflected form::

    line     ::= comment | form "\t\t" analysis ("#" analysis)*
    analysis ::= lemma "\t" pos (" " feature)*
    comment  ::= ";;;" anything

for instance ``slept \t\tsleep\tV PAST STR#sleep\tV PPART STR``.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.lexicon.inflect import guess_form, takes_an
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import read_lexicon_text
from sentprobe.lexicon.words import FORMS, OPEN_KINDS, VERBS, VOWEL_KINDS, Flag, Form, Kind, Vocabulary, Word
from sentprobe.lexicon.write import write_lexicon_text

GZIP_MAGIC = b"\x1f\x8b"
COMMENT = ";;;"
VOCABULARY_NAME = "xtag"


class XtagError(UsageError):
    """The database cannot be read; the message names the file and, if known, the line."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A part of speech and features in the database, and the inflected forms that they mean."""

    pos: str
    features: frozenset[str]
    forms: tuple[Form, ...]


MEANINGS = (
    Meaning("N", frozenset({"3sg"}), (Form.NN,)),
    Meaning("N", frozenset({"3pl"}), (Form.NNS,)),
    Meaning("V", frozenset({"INF"}), (Form.VB, Form.VBP)),
    Meaning("V", frozenset({"3sg", "PRES"}), (Form.VBZ,)),
    Meaning("V", frozenset({"PAST"}), (Form.VBD,)),
    Meaning("V", frozenset({"PROG"}), (Form.VBG,)),
    Meaning("V", frozenset({"PPART"}), (Form.VBN,)),
    Meaning("A", frozenset(), (Form.JJ,)),
    Meaning("Adv", frozenset(), (Form.RB,)),
)
OTHER_FORMS = frozenset({"GEN", "NEG", "CONTR", "INDAUX", "wh", "COMP", "SUPER"})
"""The features of forms that are not read: genitives, contractions, comparatives, superlatives and others."""


@dataclass(frozen=True, slots=True)
class Xtag:
    """The database: spellings of nouns, verbs, adjectives and adverbs by lemma and form."""

    path: str
    table: Mapping[tuple[str, Form], tuple[str, ...]] = field(repr=False, hash=False)

    def forms(self, lemma: str, form: Form) -> tuple[str, ...]:
        """Return the spellings of a form of a lemma; empty if the database lacks the form."""
        return self.table.get((lemma, form), ())


@dataclass(frozen=True, slots=True)
class OmittedLemma:
    """A lemma for which the database lacks a form."""

    lemma: str
    kind: Kind
    missing: tuple[Form, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.lemma!r} left out: XTAG lacks {', '.join(self.missing)}"


@dataclass(frozen=True, slots=True)
class XtagLexicon:
    """The text of a lexicon file, and the requested lemmas that were left out."""

    text: str
    omitted: tuple[OmittedLemma, ...]

    def read(self, source: str = "xtag.toml") -> Lexicon:
        """Return the lexicon in the text. Raises LexiconError if two words share a form."""
        return read_lexicon_text(self.text, source)


def read_xtag(path: Path) -> Xtag:
    """Return the database in a file, which may be compressed with gzip. Raises XtagError."""
    table: dict[tuple[str, Form], list[str]] = {}
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        for lemma, form, text in parse_analyses(line, f"{path}:{number}"):
            spellings = table.setdefault((lemma, form), [])
            if text not in spellings:
                spellings.append(text)
    return Xtag(str(path), {key: tuple(spellings) for key, spellings in table.items()})


def _read_text(path: Path) -> str:
    """Return the text of the database file, which is in UTF-8 or Latin-1. Raises XtagError."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise XtagError(f"{path}: cannot read the XTAG database: {reason}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_analyses(line: str, where: str) -> Iterator[tuple[str, Form, str]]:
    r"""Yield lemma, form and spelling for each analysis in a line of the database. Raises XtagError.

    >>> line = "bridges \t\tbridge\tN 3pl"
    >>> [(lemma, form.name) for lemma, form, _ in parse_analyses(line, "x:1")]
    [('bridge', 'NNS')]
    """
    if line.startswith(COMMENT) or not line.strip():
        return
    text, gap, analysis_text = line.partition("\t\t")
    for analysis in analysis_text.split("#"):
        lemma, tab, tags = analysis.partition("\t")
        if not (gap and tab and text.strip() and lemma.strip() and tags.strip()):
            expected = r"FORM \t\t LEMMA \t POS FEATURES"
            raise XtagError(f"{where}: not a line of the XTAG database, expected {expected}: {line!r}")
        pos, *features = tags.split()
        for meaning in () if OTHER_FORMS.intersection(features) else MEANINGS:
            if meaning.pos == pos and meaning.features.issubset(features):
                yield from ((lemma.strip(), form, text.strip()) for form in meaning.forms)


def lexicon_from_lemmas(xtag: Xtag, lemmas: Mapping[Kind, Iterable[str]]) -> XtagLexicon:
    """Return a lexicon of the lemmas, with forms from the database; it omits lemmas for which XTAG lacks a form."""
    words: list[Word] = []
    omitted: list[OmittedLemma] = []
    for kind in OPEN_KINDS:
        for lemma in lemmas.get(kind, ()):
            missing = tuple(f for f in FORMS[kind] if not xtag.forms(lemma, f))
            if missing:
                omitted.append(OmittedLemma(lemma, kind, missing))
            else:
                words.append(_make_word(xtag, lemma, kind))
    chosen = {kind: tuple(w.lemma for w in words if w.kind is kind) for kind in OPEN_KINDS}
    vocabularies = {VOCABULARY_NAME: Vocabulary(VOCABULARY_NAME, chosen)}
    lexicon = Lexicon("xtag", tuple(words), vocabularies)
    return XtagLexicon(write_lexicon_text(lexicon), tuple(omitted))


def _make_word(xtag: Xtag, lemma: str, kind: Kind) -> Word:
    forms = {form: _choose_spelling(xtag, lemma, kind, form) for form in FORMS[kind]}
    syncretic = kind in VERBS and forms[Form.VBD] == forms[Form.VB]
    flags = frozenset({Flag.SYNCRETIC}) if syncretic else frozenset[Flag]()
    return Word(lemma, kind, forms, flags, vowel=kind in VOWEL_KINDS and takes_an(lemma))


def _choose_spelling(xtag: Xtag, lemma: str, kind: Kind, form: Form) -> str:
    """Return the spelling from :func:`guess_form` if the database has it, else the database's first spelling."""
    xtag_spellings, own_spelling = xtag.forms(lemma, form), guess_form(lemma, kind, form)
    return own_spelling if own_spelling in xtag_spellings else xtag_spellings[0]
