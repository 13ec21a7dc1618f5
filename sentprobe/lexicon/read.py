"""Readers of lexicons: a lexicon file of the user, or the built-in lexicon of a language."""

import logging
from functools import cache
from importlib.resources import files
from pathlib import Path

from sentprobe.common.errors import UsageError, escape_control_characters
from sentprobe.common.files import find_cache_directory
from sentprobe.common.reading import open_input
from sentprobe.common.values import MAX_TOML
from sentprobe.lexicon.draft import Draft, make_draft, make_synonyms, make_vocabularies
from sentprobe.lexicon.languages import LANGUAGES, find_language
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.german import GERMAN
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import Answers, Lexicon, remember_forms
from sentprobe.lexicon.source import NOT_TOML, LexiconError, Problem, read_document
from sentprobe.lexicon.words import FormSource, Word, look_up

log = logging.getLogger(__name__)


def read_lexicon(path: Path, *, cache: Path | None = None, language: Language = ENGLISH) -> Lexicon:
    """Read a lexicon file; if *cache* is a folder, inflected forms from lemminflect are cached there.

    A logged warning lists forms that lemminflect guesses, such as "oxes".

    Raises:
        LexiconError: the file has mistakes; the message lists all problems.
        UsageError: the file cannot be read.
    """
    text = _read_text(path)
    answers: Answers = {}
    with remember_forms(cache, text, answers) as ask:
        lexicon = read_lexicon_text(text, str(path), ask=ask, language=language)
    if guesses := [f"{form} of {lemma}: {text}" for (lemma, form), (text, guessed) in answers.items() if guessed]:
        text = f"{path}: guessed forms, to be stated in the file where they are wrong: {'; '.join(guesses)}"
        log.warning("%s", escape_control_characters(text))
    return lexicon


def read_lexicon_text(text: str, source: str, *, ask: FormSource = look_up, language: Language = ENGLISH) -> Lexicon:
    """Return the lexicon in the TOML *text* of a lexicon file; *source* is the file's name in error messages.

    A file without a section for determiners, relativizers or modals gets these words from the built-in lexicon. A file
    without a vocabulary gets the vocabulary ``all`` with all its words. *ask* returns the inflected forms that the text
    does not state. Raises LexiconError, whose message lists all problems.
    """
    from sentprobe.lexicon.lexicon_checks import find_problems

    document = read_document(text, source)
    draft = make_draft(document, lent_words=read_closed_words(language), ask=ask, language=language)
    if lexicon_problems := find_problems(draft):
        raise LexiconError(source, lexicon_problems)
    return make_lexicon(draft, source)


def make_lexicon(draft: Draft, source: str) -> Lexicon:
    """Return the lexicon from the draft of a lexicon file."""
    words = (*draft.words, *draft.language.make_words())
    return Lexicon(source, words, make_vocabularies(draft), make_synonyms(draft), draft.language)


@cache
def english() -> Lexicon:
    """Return the built-in lexicon of English, always as the same object."""
    return read_built_in(ENGLISH)


def german() -> Lexicon:
    """Return the built-in lexicon of German, always as the same object.

    >>> from sentprobe.lexicon import Kind
    >>> german().get("Student", Kind.NOUN).forms["NN.sg.acc"]
    'Studenten'
    """
    return read_built_in(GERMAN)


@cache
def read_built_in(language: Language) -> Lexicon:
    """Return the built-in lexicon of a language, always as the same object."""
    return make_lexicon(read_built_in_draft(language), f"{language.stem}.toml")


def find_built_in(language: str) -> Lexicon:
    """Return the built-in lexicon for a language code, or the English lexicon if that language has none."""
    return read_built_in(find_language(language if language in LANGUAGES else ENGLISH.code))


@cache
def read_built_in_draft(language: Language = ENGLISH) -> Draft:
    """Return the draft of a built-in lexicon file. A test checks this file, so it is not checked again here."""
    name = f"{language.stem}.toml"
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return make_draft(read_document(text, name), language=language)


@cache
def read_closed_words(language: Language = ENGLISH) -> tuple[Word, ...]:
    """Return the determiners, relativizers and modals of a built-in lexicon."""
    return tuple(word for word in read_built_in_draft(language).words if word.kind in language.closed_kinds)


_MAX_BYTES = 4 * MAX_TOML
"""Maximum size of a lexicon file: a character has at most four bytes in UTF-8."""


def _read_text(path: Path) -> str:
    try:
        with open_input(path) as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:  # a device may have no end
            raise LexiconError(str(path), [Problem(1, NOT_TOML, f"longer than {MAX_TOML:,} characters")])
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot read the lexicon: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = f"a lexicon is a TOML file in UTF-8: {error.reason} {data[error.start]:#x}"
        raise LexiconError(str(path), [Problem(line, NOT_TOML, text)]) from None


def load_lexicon(path: Path | None, language: str = ENGLISH.code) -> Lexicon:
    """Return the lexicon in a file or, if *path* is None, the built-in lexicon of a language. Raises UsageError."""
    chosen = find_language(language)
    if path is None:
        return read_built_in(chosen)
    return read_lexicon(path, cache=find_cache_directory(), language=chosen)


def choose_vocabulary(lexicon: Lexicon, usual: str = "") -> str:
    """Return the name of the default vocabulary: *usual* if the lexicon has it, else the only one in the lexicon.

    An empty *usual* stands for the language's name, such as "english". Raises UsageError if the lexicon has several
    vocabularies, but not *usual*.
    """
    usual = usual or lexicon.language.stem
    names = tuple(lexicon.vocabularies)
    if usual in names or len(names) == 1:
        return usual if usual in names else names[0]
    raise UsageError(f"name one of the lexicon's vocabularies: {', '.join(names)}")
