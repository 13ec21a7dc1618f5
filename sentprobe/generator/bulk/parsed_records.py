"""Fast formatting of parsed sentences: parses become batches of events with the same structure."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from sentprobe.common.files import atomic_path
from sentprobe.generator.bulk.columns import INDEX_MARKER
from sentprobe.generator.bulk.generate import write_annotated
from sentprobe.generator.bulk.generation import PART_SIZE, Renderer
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.parse import ParsedClause, ParsedPhrase, find_only_reading
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import PARQUET, RECORD_FORMATS, TEXT, annotate_readings
from sentprobe.generator.spaces.constraints import Choices, Constraints, Words, choose_words
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseForm, Layout, PhraseForm, has_passive, make_layout
from sentprobe.generator.spaces.space import EventBatch
from sentprobe.generator.spaces.templates import ClausePattern, find_pattern
from sentprobe.grammars.shapes import ADJUNCT_LAST, ClauseShape
from sentprobe.lexicon import Flag, Kind, Lexicon, Vocabulary

ValueT = TypeVar("ValueT")


class ParsedText(NamedTuple):
    """A parsed sentence: its number in the input, its text, and its parses."""

    number: int
    text: str
    clauses: Sequence[ParsedClause]

    def annotate(self, lexicon: Lexicon) -> list[Sentence]:
        """Return an annotated sentence for each reading."""
        return annotate_readings(self.clauses, lexicon, id=f"s{self.number}")


def write_parsed(sentences: Iterable[ParsedText], lexicon: Lexicon, path: Path, fmt: str) -> None:
    """Write parsed sentences to a file in a format. Raises UsageError if the file cannot be written."""
    if fmt == PARQUET:
        write_annotated(chain.from_iterable(sentence.annotate(lexicon) for sentence in sentences), path, fmt)
        return
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(format_parsed(sentences, lexicon, fmt))


def format_parsed(
    sentences: Iterable[ParsedText], lexicon: Lexicon, fmt: str, *, is_interactive: bool = False
) -> Iterator[str]:
    """Yield the records of the sentences. If *is_interactive*, yield a sentence's records before reading the next."""
    if fmt == TEXT:  # all readings of a sentence have the same text
        yield from (f"{' '.join(sentence.text.split())}\n" for sentence in sentences)
        return
    form, events = RECORD_FORMATS[fmt], _ParsedEvents(lexicon)

    def write_marked(sentence: Sentence) -> str:
        # The renderer replaces the marker by a sentence's number, which becomes part of the id here.
        return form.write(replace(sentence, id=f"s{INDEX_MARKER}", index=None, template="")) + _RECORD_END

    renderer = Renderer(events, write_marked, escape=form.escape)
    rows = iter(sentences)
    while portion := [*islice(rows, 1 if is_interactive else PART_SIZE)]:
        # Unambiguous sentences with a layout are rendered in bulk, all others one by one.
        has_layout = events.load_clauses([find_only_reading(sentence.clauses) for sentence in portion])
        numbers = [sentence.number for sentence, is_covered in zip(portion, has_layout, strict=True) if is_covered]
        text = "".join(text for _, text in renderer.render_chunks(np.array(numbers, dtype=np.int64)))
        records = iter(text.split(_RECORD_END))
        for sentence, is_covered in zip(portion, has_layout, strict=True):
            if is_covered:
                yield next(records)
            else:
                yield from map(form.write, sentence.annotate(lexicon))


_TENSES = {tense.value: number for number, tense in enumerate(ev.Tense)}
_RECORD_END = "\ue002"
"""A character that ends a record; it occurs neither in words nor in column marks."""


class _ParsedEvents:
    """The main clauses of parsed sentences, as ``NumberedEvents``. Any word of the lexicon can occur in them."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.words = _list_words(lexicon)
        self._nouns = _number_values(self.words.nouns)
        self._verbs = _number_values(self.words.verbs)
        self._adverbs = _number_values(self.words.adverbs)
        self._adjectives = _number_values(self.words.adjectives)
        self._determiners = _number_values(self.words.determiners)
        self._relativizers = _number_values(self.words.relativizers)
        self._modals = _number_values(self.words.modals)
        self._adjuncts = _number_values(self.words.adjuncts)
        self._rows: dict[Layout, tuple[list[int], list[list[int]]]] = {}
        self._layouts: dict[object, Layout] = {}

    def load_clauses(self, clauses: Iterable[ParsedClause | None]) -> list[bool]:
        """Load main clauses (None: ambiguous sentence) as events. Return, for each clause, whether it was loaded."""
        self._rows = {}
        numbers = count()
        has_layout = []
        for clause in clauses:
            has_layout.append(False)
            if clause is not None:
                with suppress(LookupError):  # no template has the structure, or clauses nest deeper than in a layout
                    layout, values = self._find_layout(clause), self._list_values(clause)
                    positions, rows = self._rows.setdefault(layout, ([], []))
                    positions.append(next(numbers))
                    rows.append(values)
                    has_layout[-1] = True
        return has_layout

    def count(self) -> int:
        """Return the number of loaded events."""
        return sum(len(positions) for positions, _ in self._rows.values())

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:  # noqa: ARG002 - all events are read at once
        """Yield all loaded events, in one batch for each layout; *indices* is ignored."""
        for layout, (positions, rows) in self._rows.items():
            columns = np.array(rows, dtype=np.int64).T
            names = [variable.name for variable in layout.variables]
            yield EventBatch(layout, np.array(positions), dict(zip(names, columns, strict=True)))

    def _find_layout(self, clause: ParsedClause) -> Layout:
        inner = [(role, phrase.clause) for role, phrase in sorted(clause.phrases) if phrase.clause]
        forms = tuple(_read_form(c) for c in (clause, *(c for _, c in inner)))
        parts = [(role, c.shape.frame, c.shape.gap, c.shape.voice, len(c.adverbs)) for role, c in inner]
        phrases = (
            *_list_phrase_forms(clause),
            *(f for role, c in inner for f in _list_phrase_forms(c, f"{role}.clause.")),
        )
        # Everything that make_layout reads below: two sentences with an equal key have the same variables.
        key = (clause.shape.frame, len(clause.adverbs), forms, phrases, *parts)
        if key not in self._layouts:
            where = []
            for role, c in inner:
                shape = c.shape
                kind = ev.ClauseKind.SUBJECT if shape.gap == shape.subject else ev.ClauseKind.OBJECT
                clause_pattern = ClausePattern(ev.Frame(shape.frame), kind, ev.Role(shape.gap), ev.Voice(shape.voice))
                where.append((ev.Role(role), clause_pattern))
            adverbs = len(clause.adverbs), *(len(c.adverbs) for _, c in inner)
            pattern = find_pattern(ev.Frame(clause.shape.frame), tuple(where))
            self._layouts[key] = make_layout(pattern, adverbs, self.words, tuple(ev.Negator), forms, phrases=phrases)
        return self._layouts[key]

    def _list_values(self, clause: ParsedClause) -> list[int]:
        """Return the value of each variable of a clause as an index. Raises LookupError for nested relative clauses."""
        finite = self._modals[clause.modal] if clause.modal else _TENSES.get(clause.shape.tense)
        values = [*_number_features(clause.shape, finite, self.lexicon.language.aspects), self._verbs[clause.verb]]
        values += [self._adverbs[adverb] for adverb in clause.adverbs]
        # In a layout, the variables of relative clauses come after all variables of the main clause.
        inner: list[int] = []
        for _, phrase in sorted(clause.phrases):
            values += self._list_noun_values(phrase)
            if phrase.conjunct is not None:
                values += self._list_noun_values(phrase.conjunct)
            if phrase.clause is not None:
                if clause.shape.is_relative:
                    raise LookupError
                inner.append(self._relativizers[phrase.clause.relativizer])
                inner += self._list_values(phrase.clause)
        if clause.adjunct:
            values.append(self._adjuncts[clause.adjunct])
        return values + inner

    def _list_noun_values(self, phrase: ParsedPhrase) -> list[int]:
        adjectives = [self._adjectives[adjective] for adjective in phrase.adjectives]
        return [self._determiners[phrase.number, phrase.determiner], *adjectives, self._nouns[phrase.noun]]


def _list_phrase_forms(clause: ParsedClause, path: str = "") -> tuple[PhraseForm, ...]:
    """Return the form of each noun phrase of a clause, if the noun phrase has adjectives or a conjunct."""
    return tuple(
        PhraseForm(
            f"{path}{role}.", len(phrase.adjectives), len(phrase.conjunct.adjectives) if phrase.conjunct else None
        )
        for role, phrase in sorted(clause.phrases)
        if phrase.adjectives or phrase.conjunct
    )


def _number_values(values: Iterable[ValueT]) -> dict[ValueT, int]:
    return {value: number for number, value in enumerate(values)}


def _list_words(lexicon: Lexicon) -> Words:
    lemmas = {kind: tuple(word.lemma for word in lexicon.words(kind)) for kind in Kind}
    full_lexicon = Lexicon(lexicon.source, lexicon.entries, {"": Vocabulary("", lemmas)}, language=lexicon.language)
    choices = Choices(
        determiners=lemmas[Kind.DETERMINER],
        relativizers=lemmas[Kind.RELATIVIZER],
        modals=lemmas[Kind.MODAL],
        adjuncts=lemmas[Kind.ADJUNCT],
        allow=frozenset(Flag),
    )
    return choose_words(full_lexicon, "", choices, Constraints())


@cache
def _number_features(shape: ClauseShape, finite: int | None, aspects: tuple[str, ...]) -> tuple[int, ...]:
    """Return a clause's voice, dative, tense or modal, aspect and negation, each as the index of its value.

    *finite* is the index of the tense or modal. Features that the clause's layout lacks are left out.
    """
    values = [aspects.index(shape.aspect), NEGATIONS.index(shape.negation)]
    if finite is not None:  # not an order
        values = [finite, *values]
    is_fixed = shape.is_relative and (shape.gap == ev.Role.RECIPIENT or shape.voice == ev.Voice.PASSIVE)
    if shape.dative and not is_fixed:
        values = [[*ev.Dative].index(shape.dative), *values]
    has_voice = finite is not None and not shape.is_relative and has_passive(ev.Frame(shape.frame), shape.front)
    return ([*ev.Voice].index(shape.voice), *values) if has_voice else tuple(values)


def _read_form(clause: ParsedClause) -> ClauseForm:
    shape = clause.shape
    asks = shape.mood == ev.Mood.QUESTION and shape.gap
    asked = (ev.Role(shape.gap), ev.Asked(clause.relativizer)) if asks else None
    front = ev.Fronting(shape.front) if shape.front not in ("", ADJUNCT_LAST) else None
    return ClauseForm(bool(clause.modal), ev.Mood(shape.mood), asked, front, has_adjunct=bool(clause.adjunct))
