"""Writer of English lexicon files: the inverse of :mod:`.read`."""

import json
import re
import textwrap
from collections.abc import Iterator

from sentprobe.lexicon.draft import (
    ALL,
    AMBIGUOUS,
    ARTICLE,
    EVENT_ADVERBS,
    FLAGS,
    FRAMES_KEY,
    GENDER,
    SEPARATE_AGENTS,
    SORT,
    STATES,
    TAKES,
    UNIFORM_CONJUNCTS,
)
from sentprobe.lexicon.inflect import guess_form, takes_an
from sentprobe.lexicon.languages.english import CLOSED_KINDS
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.source import SORTS, SYNONYMS, VOCABULARY
from sentprobe.lexicon.words import FORMS, MODIFIED, OPEN_KINDS, PERSON, VERBS, VOWEL_KINDS, Kind, Vocabulary, Word
from sentprobe.values import format_json

WIDTH = 80
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_lexicon_text(lexicon: Lexicon) -> str:
    """Return an English lexicon as TOML text; an entry states only the values that do not follow from the lemma."""
    kinds = [kind for kind in Kind if lexicon.words(kind)]
    sections = [[f"[{kind}]", *map(write_word, lexicon.words(kind))] for kind in kinds]
    if names := sorted({sort for noun in lexicon.words(Kind.NOUN) for sort in noun.further_sorts}):
        nouns = {name: tuple(w.lemma for w in lexicon.words(Kind.NOUN) if name in w.further_sorts) for name in names}
        lines = (f"{_format_key(name)} = {_format_list(lemmas)}" for name, lemmas in nouns.items())
        sections.append([f"[{SORTS}]", *lines])
    if lexicon.synonyms:
        sections.append([f"[{SYNONYMS}]", *(f"{kind} = {json.dumps(sets)}" for kind, sets in lexicon.synonyms.items())])
    sections += [list(_format_vocabulary(v, lexicon)) for v in lexicon.vocabularies.values()]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def write_word(word: Word) -> str:
    """Return the line that defines *word* in a lexicon file.

    >>> from sentprobe.lexicon import Form
    >>> write_word(Word("heir", Kind.NOUN, {Form.NN: "heir", Form.NNS: "heirs"}))
    'heir = { article = "a" }'
    """
    pairs = ", ".join(f"{key} = {value}" for key, value in _list_required_values(word))
    return f"{_format_key(word.lemma)} = " + (f"{{ {pairs} }}" if pairs else "{}")


def _list_required_values(word: Word) -> Iterator[tuple[str, str]]:
    """Yield the (key, value) pairs of a word's lexicon entry, in TOML. Most values that can be guessed are left out."""
    guesses = [guess_form(word.lemma, word.kind, form) or "" for form in FORMS[word.kind]]
    if word.kind in OPEN_KINDS or [word.forms.get(form) for form in FORMS[word.kind]] != guesses:
        for form, text in word.forms.items():
            if word.kind in CLOSED_KINDS or text != guess_form(word.lemma, word.kind, form):
                yield _format_key(form), _quote(text)
    if word.kind in VOWEL_KINDS and word.vowel != takes_an(word.lemma):
        yield ARTICLE, _quote("an" if word.vowel else "a")
    for key, value, default in ((SORT, word.sort, PERSON), (GENDER, word.gender, "")):
        if value != default:
            yield key, _quote(value)
    if word.takes:
        sorts = {role: f"[{', '.join(map(_quote, names))}]" for role, names in word.takes.items()}
        table = ", ".join(f"{role} = {names}" for role, names in sorts.items())
        yield TAKES, f"{{ {table} }}" if word.kind in VERBS else sorts[MODIFIED]
    for key, names in ((FLAGS, word.flags), (FRAMES_KEY, word.frames), (AMBIGUOUS, word.ambiguous)):
        if names:
            yield key, f"[{', '.join(map(_quote, sorted(names)))}]"


def _format_vocabulary(vocabulary: Vocabulary, lexicon: Lexicon) -> Iterator[str]:
    yield f"[{VOCABULARY}.{_format_key(vocabulary.name)}]"
    for kind in OPEN_KINDS:
        chosen = vocabulary.words[kind]
        if chosen and chosen == tuple(word.lemma for word in lexicon.words(kind)):
            yield f"{kind} = {_quote(ALL)}"
        elif chosen:
            yield f"{kind} = {_format_list(chosen)}"
    switches = {UNIFORM_CONJUNCTS: vocabulary.uniform_conjuncts, SEPARATE_AGENTS: vocabulary.separate_agents}
    yield from (f"{key} = true" for key, is_on in switches.items() if is_on)
    for key, lemmas in ((EVENT_ADVERBS, vocabulary.event_adverbs), (STATES, vocabulary.states)):
        if lemmas:
            yield f"{key} = {_format_list(lemmas)}"


def _format_list(names: tuple[str, ...] | list[str]) -> str:
    line = f"[{', '.join(map(_quote, names))}]"
    if len(line) <= WIDTH:
        return line
    rows = textwrap.wrap(f"{line[1:-1]},", WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(["[", *(f"  {row}" for row in rows), "]"])


def _format_key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    return format_json(text)
