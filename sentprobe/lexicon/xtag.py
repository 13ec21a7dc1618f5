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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.common.reading import open_input
from sentprobe.lexicon.draft import write_lexicon_text
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.words import (
    FORMS,
    OPEN_KINDS,
    VERBS,
    VOWEL_KINDS,
    Flag,
    Form,
    Kind,
    Vocabulary,
    Word,
    guess_form,
    takes_an,
)

GZIP_MAGIC = b"\x1f\x8b"
COMMENT = ";;;"
VOCABULARY_NAME = "xtag"


class XtagError(UsageError):
    """The database cannot be read; the message names the file and, if known, the line."""


MEANINGS: tuple[tuple[str, set[str], tuple[Form, ...]], ...] = (
    ("N", {"3sg"}, (Form.NN,)),
    ("N", {"3pl"}, (Form.NNS,)),
    ("V", {"INF"}, (Form.VB, Form.VBP)),
    ("V", {"3sg", "PRES"}, (Form.VBZ,)),
    ("V", {"PAST"}, (Form.VBD,)),
    ("V", {"PROG"}, (Form.VBG,)),
    ("V", {"PPART"}, (Form.VBN,)),
    ("A", set(), (Form.JJ,)),
    ("Adv", set(), (Form.RB,)),
)
"""Part of speech and features in the database, and the inflected forms that they stand for."""
OTHER_FORMS = frozenset({"GEN", "NEG", "CONTR", "INDAUX", "wh", "COMP", "SUPER"})
"""The features of forms that are not read: genitives, contractions, comparatives, superlatives and others."""


Xtag: TypeAlias = Mapping[tuple[str, Form], tuple[str, ...]]
"""The database: the spellings of nouns, verbs, adjectives and adverbs by lemma and form."""


@dataclass(frozen=True, slots=True)
class OmittedLemma:
    """A lemma for which the database lacks a form."""

    lemma: str
    kind: Kind
    missing: tuple[Form, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.lemma!r} left out: XTAG lacks {', '.join(self.missing)}"


def read_xtag(path: Path) -> Xtag:
    """Return the database in a file, which may be compressed with gzip. Raises XtagError."""
    table: dict[tuple[str, Form], dict[str, None]] = {}
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        for lemma, form, text in parse_analyses(line, f"{path}:{number}"):
            table.setdefault((lemma, form), {})[text] = None
    return {key: tuple(spellings) for key, spellings in table.items()}


def _read_text(path: Path) -> str:
    """Return the text of the database file, which is in UTF-8 or Latin-1. Raises XtagError."""
    try:
        with open_input(path) as file:
            data = file.read()
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
        for meaning_pos, meaning_features, forms in () if OTHER_FORMS.intersection(features) else MEANINGS:
            if meaning_pos == pos and meaning_features.issubset(features):
                yield from ((lemma.strip(), form, text.strip()) for form in forms)


def lexicon_from_lemmas(xtag: Xtag, lemmas: Mapping[Kind, Iterable[str]]) -> tuple[str, list[OmittedLemma]]:
    """Return the text of a lexicon file with the lemmas, and the lemmas left out since XTAG lacks a form."""
    words: list[Word] = []
    omitted: list[OmittedLemma] = []
    for kind in OPEN_KINDS:
        for lemma in lemmas.get(kind, ()):
            missing = tuple(f for f in FORMS[kind] if (lemma, f) not in xtag)
            if missing:
                omitted.append(OmittedLemma(lemma, kind, missing))
            else:
                words.append(_make_word(xtag, lemma, kind))
    chosen = {kind: tuple(w.lemma for w in words if w.kind is kind) for kind in OPEN_KINDS}
    vocabularies = {VOCABULARY_NAME: Vocabulary(VOCABULARY_NAME, chosen)}
    lexicon = Lexicon("xtag", tuple(words), vocabularies)
    return write_lexicon_text(lexicon), omitted


def _make_word(xtag: Xtag, lemma: str, kind: Kind) -> Word:
    forms: dict[Form, str] = {}
    for form in FORMS[kind]:
        # Of several spellings, such as "learned" and "learnt", take the usual one if it can be guessed.
        spellings, guess = xtag[lemma, form], guess_form(lemma, kind, form)
        forms[form] = guess if guess in spellings else spellings[0]
    syncretic = kind in VERBS and forms[Form.VBD] == forms[Form.VB]
    flags = frozenset({Flag.SYNCRETIC}) if syncretic else frozenset[Flag]()
    return Word(lemma, kind, forms, flags, vowel=kind in VOWEL_KINDS and takes_an(lemma))
