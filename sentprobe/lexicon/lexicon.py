"""The lexicon, which finds words by kind, lemma or inflected form.

Also a cache on disk of the inflected forms that lemminflect returns for a user's lexicon file.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, describe_package, suggest
from sentprobe.common.files import atomic_path
from sentprobe.common.values import parse_json
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import MODIFIED, ROLES, Form, FormSource, Kind, Vocabulary, Word, is_guess, look_up

WordReading = tuple[Word, str]
"""A word, and the name of one of its inflected forms."""
SynonymSets = Mapping[Kind, tuple[tuple[str, ...], ...]]


class UnknownWordError(UsageError):
    """A lemma is not in the lexicon with the requested kind."""


class UnknownVocabularyError(UsageError):
    """The lexicon has no vocabulary with the requested name."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """A list of words, and vocabularies that select some of the words; compared by identity."""

    source: str
    entries: tuple[Word, ...] = field(repr=False)
    vocabularies: Mapping[str, Vocabulary] = field(repr=False)
    synonyms: SynonymSets = field(default_factory=dict, repr=False)
    """The sets of near-synonyms by kind; a word may be in several sets."""
    language: Language = field(default=ENGLISH, repr=False)
    _by_kind: Mapping[Kind, tuple[Word, ...]] = field(init=False, repr=False)
    _by_lemma: Mapping[tuple[Kind, str], Word] = field(init=False, repr=False)
    _by_form: Mapping[str, tuple[WordReading, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_form: dict[str, list[WordReading]] = {}
        for word in self.entries:
            for form, text in word.forms.items():
                by_form.setdefault(text, []).append((word, form))
        by_kind = {kind: tuple(w for w in self.entries if w.kind is kind) for kind in Kind}
        object.__setattr__(self, "_by_kind", by_kind)
        object.__setattr__(self, "_by_lemma", {(w.kind, w.lemma): w for w in self.entries})
        object.__setattr__(self, "_by_form", {text: tuple(readings) for text, readings in by_form.items()})

    def words(self, kind: Kind) -> tuple[Word, ...]:
        """Return the words of one kind, in the order of the file."""
        return self._by_kind[kind]

    def get(self, lemma: str, kind: Kind) -> Word:
        """Return the word with this lemma and kind.

        Raises UnknownWordError, whose message names the nearest lemma, or other kinds of the lemma.
        """
        word = self._by_lemma.get((kind, lemma))
        if word is None:
            raise UnknownWordError(f"unknown {kind} {lemma!r}{self._hint(lemma, kind)}")
        return word

    def _hint(self, lemma: str, kind: Kind) -> str:
        if kinds := self.kinds_of(lemma):
            return f" (the lexicon has it as {' and '.join(kinds)})"
        lemmas = [word.lemma for word in self.words(kind) if word.phrase not in self.language.bounds]
        if (hint := suggest(lemma, lemmas)) or kind not in self.language.closed_kinds:
            return hint
        return f"; the {kind}s are {', '.join(lemmas)}"

    def kinds_of(self, lemma: str) -> tuple[Kind, ...]:
        """Return the kinds that a lemma has; empty if the lemma is not in the lexicon."""
        return tuple(kind for kind in Kind if (kind, lemma) in self._by_lemma)

    def vocabulary(self, name: str) -> Vocabulary:
        """Return the vocabulary with this name. Raises UnknownVocabularyError, whose message lists those that exist."""
        if name not in self.vocabularies:
            names = ", ".join(self.vocabularies)
            hint = suggest(name, self.vocabularies)
            raise UnknownVocabularyError(f"unknown vocabulary {name!r}, expected {names}{hint}")
        return self.vocabularies[name]

    def replace_words(self, name: str, words: Mapping[Kind, Iterable[str]]) -> "Lexicon":
        """Return a copy in which the lemmas in *words* replace the lemmas of the same kinds in vocabulary *name*."""
        old = self.vocabulary(name)
        fresh = {kind: tuple(lemmas) for kind, lemmas in words.items()}
        new = replace(old, words={**old.words, **fresh})
        return Lexicon(self.source, self.entries, {**self.vocabularies, name: new}, self.synonyms, self.language)

    def find(self, form_text: str) -> tuple[WordReading, ...]:
        """Return a pair (word, name of the form) for each form that is spelled *form_text*; () if there is none.

        >>> from sentprobe.lexicon import english
        >>> [(word.lemma, form.name) for word, form in english().find("slept")]
        [('sleep', 'VBD'), ('sleep', 'VBN')]
        """
        return self._by_form.get(form_text, ())

    def list_forms(self) -> list[str]:
        """Return the spellings of all forms, each once."""
        return [*self._by_form]


@lru_cache(maxsize=16)  # renderers are cached by lexicon, which is compared by identity
def restrict_to_one_sort(lexicon: Lexicon, vocabulary: str) -> Lexicon:
    """Return *lexicon* with a smaller *vocabulary*: nouns of one sort, and verbs and adjectives that accept this sort.

    A verb must accept the sort in every role. The chosen sort keeps the most pairs of a noun and a transitive verb.
    """
    words = lexicon.vocabulary(vocabulary).words
    kinds = [kind for kind in (Kind.NOUN, *ROLES, Kind.ADJECTIVE) if kind in words]
    sorts: dict[str, set[tuple[str, ...]]] = {}
    """All sorts of each noun, by the noun's main sort."""
    for noun in words[Kind.NOUN]:
        word = lexicon.get(noun, Kind.NOUN)
        sorts.setdefault(word.sort, set()).add(word.sorts)

    def is_usable(kind: Kind, lemma: str, sort: str) -> bool:
        word = lexicon.get(lemma, kind)
        pairs = product(sorts[sort], ROLES.get(kind, (MODIFIED,)))
        return word.sort == sort if kind is Kind.NOUN else all(word.accepts(*pair) for pair in pairs)

    usable = [{kind: tuple(w for w in words[kind] if is_usable(kind, w, sort)) for kind in kinds} for sort in sorts]
    best = max(usable, key=lambda some: len(some[Kind.NOUN]) * len(some[Kind.TRANSITIVE]), default=words)
    is_all = all(best[kind] == words[kind] for kind in kinds)
    return lexicon if is_all else lexicon.replace_words(vocabulary, best)


FORMAT = "sentprobe-forms 2"
"""The name and version of the file format, with which a cache file begins."""
FOLDER = "lexicons"
"""The subfolder of sentprobe's cache for these files."""
_FILE = re.compile(r"[0-9a-f]{32}\.json|\.[0-9a-f]{32}\.json\.\w+\.part")
Answers = dict[tuple[str, Form], tuple[str | None, bool]]
"""For each lemma and form, the spelling (None: lemminflect has none), and whether it is a guess."""


class DamagedAnswersError(SentprobeError):
    """A cache file is damaged: its content does not match its digest, or has the wrong format."""


@contextmanager
def remember_forms(cache: Path | None, text: str, answers: Answers) -> Iterator[FormSource]:
    """Provide a source of forms for the lexicon in *text*, which adds its answers to *answers*.

    The end of the block stores new answers below the folder *cache*, unless it is None.
    """
    path = cache and find_answers_path(cache, text)
    stored: Answers = {}
    if path:
        with suppress(OSError, DamagedAnswersError):
            stored = read_answers(path.read_bytes())

    def ask(lemma: str, form: Form) -> str | None:
        key = lemma, form
        if key not in answers:
            answers[key] = stored[key] if key in stored else (look_up(*key), is_guess(*key))
        return answers[key][0]

    yield ask
    if path and answers.keys() - stored.keys():
        with suppress(OSError, SentprobeError):  # a full or read-only disk ends no command
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path) as temporary:
                temporary.write_bytes(write_answers(answers))


def find_answers_path(cache: Path, text: str) -> Path:
    """Return the path of a lexicon's cache file, named by a digest of the lexicon's text and lemminflect's version."""
    key = f"{describe_package('lemminflect')}\n{text}".encode()
    return cache / FOLDER / f"{sha256(key).hexdigest()[:32]}.json"


def find_kept_files(cache: Path) -> list[Path]:
    """Return the paths of all files of inflected forms below the folder *cache*, including incomplete ones."""
    try:
        return sorted(path for path in (cache / FOLDER).iterdir() if _FILE.fullmatch(path.name))
    except (FileNotFoundError, NotADirectoryError):
        return []


def write_answers(answers: Answers) -> bytes:
    """Return the content of a cache file, as bytes."""
    rows = [[lemma, form.value, *answer] for (lemma, form), answer in answers.items()]
    body = json.dumps(rows).encode()
    return _format_head(body) + body + b"\n"


def read_answers(data: bytes) -> Answers:
    """Return the answers in a cache file's content; inverse of :func:`write_answers`. Raises DamagedAnswersError.

    >>> read_answers(write_answers({("wolf", Form.NNS): ("wolves", False)}))
    {('wolf', <Form.NNS: 'NNS'>): ('wolves', False)}
    """
    head, _, remainder = data.partition(b"\n")
    body = remainder.removesuffix(b"\n")
    if head + b"\n" != _format_head(body) or remainder == body:
        raise DamagedAnswersError("its digest does not fit its content")
    try:
        return {(lemma, Form(form)): (spelling, guessed) for lemma, form, spelling, guessed in parse_json(body)}
    except (FormatError, ValueError, TypeError) as error:
        raise DamagedAnswersError("it does not hold answers") from error


def _format_head(body: bytes) -> bytes:
    return f"{FORMAT} {sha256(body).hexdigest()}\n".encode()
