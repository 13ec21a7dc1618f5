"""Named words of sentences, such as the agent: found by the grammar, or in the table of a corpus."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sentprobe.disk.files import TABLE_MARKER
from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.sentence_plan import plan_sentence
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.values import BadSyntaxError, parse_json

VERB, SUBJECT = "verb", "subject"
GRAMMAR_NAMES = (VERB, SUBJECT, *(role.value for role in ev.ROLES))
TABLE_NAMES = (VERB, SUBJECT, "object")
SLOT = re.compile(
    rf"(({'|'.join(role.value for role in ev.ROLES)})\.((conjunct|clause)\.)*)*"
    r"(noun|det|rel|verb|modal|(adverb|adjective)\d)"
)
"""A slot of a sentence plan, such as ``agent.clause.verb``."""

WordIndices = Mapping[str, int]
"""The index of each named word among the words of a sentence, from 0."""


@dataclass(frozen=True, slots=True)
class GrammarWords:
    """The words of generated sentences, which are parsed; an ambiguous word is left out."""

    lexicon: Lexicon
    content: bytes = b""
    """The code of its language unless English, and the content of its file; empty: the built-in English lexicon."""
    names: Sequence[str] = GRAMMAR_NAMES
    """The usual names."""

    @property
    def source(self) -> str:
        """Where an unknown sentence was looked up: the end of a message."""
        return (
            f" in the grammar of generated {self.lexicon.language.name} sentences "
            "(language=de: German; for natural text, name its table: table=FOLDER)"
        )

    def has_name(self, name: str) -> bool:
        """Say whether the name is a role or a slot."""
        return name in self.names or SLOT.fullmatch(name) is not None

    def find_words(self, sentences: Sequence[str]) -> list[WordIndices]:
        """Return the words of each sentence by role and slot."""
        return [self._find_words_of(sentence) for sentence in sentences]

    def _find_words_of(self, sentence: str) -> WordIndices:
        try:
            events = parse(sentence, self.lexicon)
        except (ParseError, ValueError):
            return {}
        first, *alternatives = (find_event_words(event, self.lexicon.language) for event in events)
        return {name: index for name, index in first.items() if all(words.get(name) == index for words in alternatives)}


def find_event_words(event: ev.Event, language: Language) -> WordIndices:
    """Return the index of each slot's word, and of each role's: in the main clause, else in the first clause with it.

    >>> from sentprobe.lexicon import english
    >>> words = find_event_words(*parse("the doctors that the lawyer helped slept", english()), english().language)
    >>> words["agent"], words["patient"], words["verb"], words["agent.clause.verb"]
    (1, 1, 6, 5)
    """
    indices = {token.slot: index for index, token in enumerate(plan_sentence(event, language).tokens) if token.slot}
    roles = {name: indices[slot] for name, slot in reversed([*_iterate_roles(event)]) if slot in indices}
    return indices | roles


def _iterate_roles(event: ev.Event, path: str = "", head: str = "") -> Iterator[tuple[str, str]]:
    """Yield roles with their slots, those of the main clause first; *head* is the slot of the modified noun."""
    yield VERB, f"{path}verb"
    slots = {role: head if event.argument(role) is ev.GAP else f"{path}{role.value}.noun" for role in ev.ROLES}
    yield SUBJECT, slots[event.subject]
    yield from ((role.value, slot) for role, slot in slots.items())
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            yield from _iterate_roles(person.clause.event, f"{path}{role.value}.clause.", slots[role])


@dataclass(frozen=True, slots=True)
class TableWords:
    """The main verb, its subject and its object, from the table of a corpus."""

    source: str
    files: tuple[str, ...]
    content: bytes
    """The head of the table, which has the checksums of its files."""
    names: Sequence[str] = TABLE_NAMES

    def has_name(self, name: str) -> bool:
        """Say whether the table has a column for the name."""
        return name in self.names

    def find_words(self, sentences: Sequence[str]) -> list[WordIndices]:
        """Return the words of each sentence; a sentence that is not in the table has none. Raises EncoderError."""
        import pyarrow as pa
        from pyarrow import dataset

        is_asked = dataset.field("text").isin(pa.array(sentences, pa.string()))
        columns = ["text", *(f"{name}_index" for name in TABLE_NAMES)]
        try:
            rows = dataset.dataset([*self.files]).to_table(columns, filter=is_asked).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise EncoderError(f"cannot read the table{self.source}: {error}") from None
        by_text = {row["text"]: row for row in rows}
        sentence_rows = (by_text.get(sentence, {}) for sentence in sentences)
        return [
            {name: index for name in TABLE_NAMES if (index := row.get(f"{name}_index")) is not None}
            for row in sentence_rows
        ]


WordFinder: TypeAlias = GrammarWords | TableWords
"""Finds the named words of sentences."""


def open_table_words(path: Path) -> TableWords:
    """Return the words of the sentences in a table that ``probe analyze`` wrote. Raises UsageError."""
    try:
        content = (path / TABLE_MARKER).read_bytes()
        head = parse_json(content)
        files = tuple(str(path / head.get("folder", "shards") / shard["file"]) for shard in head["shards"])
    except (OSError, BadSyntaxError, KeyError, TypeError, AttributeError):
        raise UsageError(f"hf: option table={path}: no table of an analysed corpus (probe analyze makes one)") from None
    return TableWords(f" in {path}", files, content)
