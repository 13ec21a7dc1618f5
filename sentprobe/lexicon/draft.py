"""The words of a lexicon file that is not yet checked, and the inverse: the text of a file with given English words.

Wrong values are skipped here; :mod:`.lexicon_checks` reports them.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.common.values import format_json
from sentprobe.lexicon.languages.english import CLOSED_KINDS, ENGLISH
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.source import SORTS, SYNONYMS, VOCABULARY, Document, LexiconEntry, Section
from sentprobe.lexicon.words import (
    FORMS,
    MODIFIED,
    OPEN_KINDS,
    PERSON,
    VERBS,
    VOWEL_KINDS,
    Flag,
    FormSource,
    Kind,
    Vocabulary,
    Word,
    guess_form,
    look_up,
    takes_an,
)

FLAGS = "flags"
ARTICLE = "article"
SORT = "sort"
GENDER = "gender"
AUXILIARY = "auxiliary"
ENGLISH_LEMMA = "english"
TAKES = "takes"
FRAMES_KEY = "frames"
AMBIGUOUS = "ambiguous"
EXCEPT = "except"
UNIFORM_CONJUNCTS = "uniform_conjuncts"
SEPARATE_AGENTS = "separate_agents"
EVENT_ADVERBS = "event_adverbs"
STATES = "states"
ALL = "*"


@dataclass(frozen=True, slots=True)
class DraftWord:
    """A word, and the file entry that defines it."""

    word: Word
    entry: LexiconEntry

    @property
    def stated(self) -> Mapping[str, object]:
        """The values in the entry by key, such as ``{"sort": "thing"}``; empty if the entry is not a table."""
        return self.entry.value if isinstance(self.entry.value, dict) else {}


@dataclass(frozen=True, slots=True)
class Draft:
    """A lexicon file before its checks: ``items`` are its words; ``inherited`` are words of the built-in lexicon."""

    document: Document
    items: tuple[DraftWord, ...]
    inherited: tuple[Word, ...]
    language: Language

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the file, followed by the inherited words."""
        return (*(item.word for item in self.items), *self.inherited)

    @property
    def vocabularies(self) -> tuple[Section, ...]:
        """The sections of the file that define vocabularies."""
        return tuple(s for s in self.document.sections if is_vocabulary(s) and s.is_table)

    @property
    def sorts(self) -> tuple[LexiconEntry, ...]:
        """The entries of the section ``sorts``; an entry lists the nouns of one further sort."""
        return _list_sorts(self.document)

    @property
    def synonyms(self) -> tuple[LexiconEntry, ...]:
        """The entries of the section ``synonyms``; an entry has the sets of synonyms of one kind of word."""
        sections = (s for s in self.document.sections if s.name == SYNONYMS)
        return tuple(entry for section in sections for entry in section.entries)


def make_draft(
    document: Document, lent_words: tuple[Word, ...] = (), *, ask: FormSource = look_up, language: Language
) -> Draft:
    """Return a lexicon file's unchecked words. If it has no section for a kind, add the *lent_words* of that kind."""
    sections = [s for s in document.sections if s.name in language.forms]
    sorts_by_noun: dict[str, list[str]] = {}
    for sort in _list_sorts(document):
        for noun in list_strings(sort.value):
            sorts_by_noun.setdefault(noun, []).append(sort.key)
    items = tuple(
        DraftWord(_make_word(Kind(section.name), entry, ask, language, sorts_by_noun.get(entry.key, ())), entry)
        for section in sections
        for entry in section.entries
    )
    own_names = {section.name for section in sections}
    own_texts = {text for item in items for text in item.word.forms.values()}
    candidates = (word for word in lent_words if word.kind not in own_names)
    # A noun "will" of the file hides the modal.
    inherited = tuple(w for w in candidates if w.kind is not Kind.MODAL or own_texts.isdisjoint(w.forms.values()))
    return Draft(document, items, inherited, language)


def _list_sorts(document: Document) -> tuple[LexiconEntry, ...]:
    return tuple(entry for section in document.sections if section.name == SORTS for entry in section.entries)


def _make_word(
    kind: Kind, entry: LexiconEntry, ask: FormSource, language: Language, further_sorts: Sequence[str]
) -> Word:
    """Return the word that an entry defines; *ask* returns the inflected forms that the entry does not state."""
    table = entry.value if isinstance(entry.value, dict) else {}
    article = table.get(ARTICLE)
    return Word(
        lemma=entry.key,
        kind=kind,
        forms=dict(language.make_forms(entry.key, kind, table, ask)),
        flags=frozenset(Flag(flag) for flag in list_strings(table.get(FLAGS)) if flag in frozenset(Flag)),
        vowel=language is ENGLISH and kind in VOWEL_KINDS and (article == "an" if article else takes_an(entry.key)),
        sort=sort if isinstance(sort := table.get(SORT), str) else PERSON,
        further_sorts=tuple(sorted(further_sorts)) if kind is Kind.NOUN else (),
        takes=dict(_read_takes(table.get(TAKES))),
        frames=frozenset(list_strings(table.get(FRAMES_KEY))),
        ambiguous=frozenset(list_strings(table.get(AMBIGUOUS))),
        gender=_read_text(table, GENDER),
        auxiliary=_read_text(table, AUXILIARY),
        english=_read_text(table, ENGLISH_LEMMA),
    )


def _read_text(table: Mapping[str, object], key: str) -> str:
    """Return the value of *key* in *table* if it is a string, else ""."""
    return value if isinstance(value := table.get(key), str) else ""


def _read_takes(value: object) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (role, sorts) for each role in ``takes``. If ``takes`` is only a list of sorts, yield (MODIFIED, sorts)."""
    for role, sorts in (value if isinstance(value, dict) else {MODIFIED: value}).items():
        if names := tuple(list_strings(sorts)):
            yield role, names


def make_vocabularies(draft: Draft) -> dict[str, Vocabulary]:
    """Return the vocabularies by name; a file without vocabularies gets the vocabulary ``all`` with all its words."""
    sections = draft.vocabularies or (choose_everything(draft),)
    vocabularies = {}
    for section in sections:
        name = section.name.removeprefix(f"{VOCABULARY}.")
        values = {entry.key: entry.value for entry in section.entries}
        vocabularies[name] = Vocabulary(
            name,
            resolve_vocabulary(section, draft),
            uniform_conjuncts=values.get(UNIFORM_CONJUNCTS) is True,
            separate_agents=values.get(SEPARATE_AGENTS) is True,
            event_adverbs=tuple(list_strings(values.get(EVENT_ADVERBS))),
            states=tuple(list_strings(values.get(STATES))),
        )
    return vocabularies


def make_synonyms(draft: Draft) -> dict[Kind, tuple[tuple[str, ...], ...]]:
    """Return the sets of synonyms by kind of word."""
    return {Kind(entry.key): tuple(map(tuple, list_lists(entry.value))) for entry in draft.synonyms}


def choose_everything(draft: Draft) -> Section:
    """Return the section that defines the vocabulary ``all``, with all words of the file."""
    kinds = {word.kind for word in draft.words}.intersection(draft.language.open_kinds)
    return Section(f"{VOCABULARY}.all", 1, tuple(LexiconEntry(kind.value, ALL, 1) for kind in kinds))


def resolve_vocabulary(section: Section, draft: Draft) -> dict[Kind, tuple[str, ...]]:
    """Return the lemmas of a vocabulary's section by kind of word; "*" selects all words of a kind."""
    lists = {entry.key: entry.value for entry in section.entries}
    left_out = frozenset(list_strings(lists.get(EXCEPT)))
    chosen: dict[Kind, tuple[str, ...]] = dict.fromkeys(OPEN_KINDS, ())  # a language may lack some of these
    for kind in draft.language.open_kinds:
        value = lists.get(kind)
        all_lemmas = tuple(word.lemma for word in draft.words if word.kind is kind)
        lemmas = all_lemmas if value == ALL else tuple(list_strings(value))
        chosen[kind] = tuple(lemma for lemma in lemmas if lemma not in left_out)
    return chosen


def list_strings(value: object) -> list[str]:
    """Return the strings in *value*, or an empty list if *value* is not a list."""
    members = value if isinstance(value, list) else []
    return [member for member in members if isinstance(member, str)]


def list_lists(value: object) -> list[list[str]]:
    """Return the strings of each list in *value*, or an empty list if *value* is not a list."""
    members = value if isinstance(value, list) else []
    return [list_strings(member) for member in members if isinstance(member, list)]


def is_vocabulary(section: Section) -> bool:
    """Say whether a section defines a vocabulary."""
    return section.name.startswith(f"{VOCABULARY}.")


WIDTH = 80
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_lexicon_text(lexicon: Lexicon) -> str:
    """Return an English lexicon as TOML text; an entry states only the values that do not follow from the lemma."""
    kinds = [kind for kind in Kind if any(not word.phrase for word in lexicon.words(kind))]
    sections = [[f"[{kind}]", *(write_word(word) for word in lexicon.words(kind) if not word.phrase)] for kind in kinds]
    if names := sorted({sort for noun in lexicon.words(Kind.NOUN) for sort in noun.further_sorts}):
        nouns = {name: tuple(w.lemma for w in lexicon.words(Kind.NOUN) if name in w.further_sorts) for name in names}
        lines = (f"{_format_key(name)} = {_format_list(lemmas)}" for name, lemmas in nouns.items())
        sections.append([f"[{SORTS}]", *lines])
    if lexicon.synonyms:
        sections.append([f"[{SYNONYMS}]", *(f"{kind} = {json.dumps(sets)}" for kind, sets in lexicon.synonyms.items())])
    sections += [list(_format_vocabulary(v, lexicon)) for v in lexicon.vocabularies.values()]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def write_word(word: Word) -> str:
    """Return the line that defines *word* in a lexicon file, such as ``heir = { article = "a" }``."""
    pairs = ", ".join(f"{key} = {value}" for key, value in _list_required_values(word))
    return f"{_format_key(word.lemma)} = " + (f"{{ {pairs} }}" if pairs else "{}")


def _list_required_values(word: Word) -> Iterator[tuple[str, str]]:
    """Yield the (key, value) pairs of a word's lexicon entry, in TOML. Most values that can be guessed are left out."""
    guesses = [guess_form(word.lemma, word.kind, form) or "" for form in FORMS[word.kind]]
    if word.kind in OPEN_KINDS or [word.forms.get(form) for form in FORMS[word.kind]] != guesses:
        for form, text in word.forms.items():
            if word.kind in CLOSED_KINDS or text != guess_form(word.lemma, word.kind, form):
                yield _format_key(form), format_json(text)
    if word.kind in VOWEL_KINDS and word.vowel != takes_an(word.lemma):
        yield ARTICLE, format_json("an" if word.vowel else "a")
    for key, value, default in ((SORT, word.sort, PERSON), (GENDER, word.gender, "")):
        if value != default:
            yield key, format_json(value)
    if word.takes:
        sorts = {role: f"[{', '.join(map(format_json, names))}]" for role, names in word.takes.items()}
        table = ", ".join(f"{role} = {names}" for role, names in sorts.items())
        yield TAKES, f"{{ {table} }}" if word.kind in VERBS else sorts[MODIFIED]
    for key, names in ((FLAGS, word.flags), (FRAMES_KEY, word.frames), (AMBIGUOUS, word.ambiguous)):
        if names:
            yield key, f"[{', '.join(map(format_json, sorted(names)))}]"


def _format_vocabulary(vocabulary: Vocabulary, lexicon: Lexicon) -> Iterator[str]:
    yield f"[{VOCABULARY}.{_format_key(vocabulary.name)}]"
    for kind in OPEN_KINDS:
        chosen = vocabulary.words[kind]
        if chosen and chosen == tuple(word.lemma for word in lexicon.words(kind) if not word.phrase):
            yield f"{kind} = {format_json(ALL)}"
        elif chosen:
            yield f"{kind} = {_format_list(chosen)}"
    switches = {UNIFORM_CONJUNCTS: vocabulary.uniform_conjuncts, SEPARATE_AGENTS: vocabulary.separate_agents}
    yield from (f"{key} = true" for key, is_on in switches.items() if is_on)
    for key, lemmas in ((EVENT_ADVERBS, vocabulary.event_adverbs), (STATES, vocabulary.states)):
        if lemmas:
            yield f"{key} = {_format_list(lemmas)}"


def _format_list(names: tuple[str, ...] | list[str]) -> str:
    line = f"[{', '.join(map(format_json, names))}]"
    if len(line) <= WIDTH:
        return line
    rows = textwrap.wrap(f"{line[1:-1]},", WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(["[", *(f"  {row}" for row in rows), "]"])


def _format_key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else format_json(name)
