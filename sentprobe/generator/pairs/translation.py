"""Translation of triplets: the anchor stays English, and the positive and the negatives are in another language.

The key ``english`` in the other lexicon translates each lemma. The progressive, which the other language lacks, becomes
simple. A verb that takes a dative object there has no passive: in the main clause, the object stands first instead; a
relative clause is active. If a translation has two readings, its transitive clauses become passive.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event_json import event_from_json
from sentprobe.generator.pairs.training_files import COLUMNS, PORTION_SIZE, TrainingColumns
from sentprobe.generator.pairs.triplet_files import TripletFormat, format_triplet_lines
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSide, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import write_json
from sentprobe.lexicon import Flag, Kind, Lexicon, Word

UNTRANSLATED = {
    "aspect": "progressive and simple events have one translation",
    "modality": "modals are not translated",
    "mood": "questions and orders are not translated",
    "recipient": "verbs with a recipient are not translated",
}
"""The contrasts that a translation does not preserve, with the reason."""


class Translator:
    """Translator of events from English into another language, by the lexicons of the two languages.

    >>> from sentprobe.lexicon.read import load_lexicon
    >>> english, german = load_lexicon(None), load_lexicon(None, "de")
    >>> (event,) = parse("the student that was helped by the lawyer is not sleeping", english)
    >>> Translator(english, german).translate_sentence(event).text
    'der Student , dem der Anwalt half , schläft nicht'
    """

    def __init__(self, source: Lexicon, target: Lexicon) -> None:
        self.source, self.target = source, target
        self._words = {(_find_source_kind(word), word.english): word for word in target.entries if word.english}
        article = target.get(target.language.determiner, Kind.DETERMINER)
        self._words[Kind.DETERMINER, source.language.determiner] = article

    def restrict(self, vocabulary: str) -> Lexicon:
        """Return the source lexicon with only those words in *vocabulary* that have a translation."""
        words = self.source.vocabulary(vocabulary).words
        usable = {kind: [lemma for lemma in words[kind] if self._is_usable(kind, lemma)] for kind in words}
        return self.source.replace_words(vocabulary, usable)

    def _is_usable(self, kind: Kind, lemma: str) -> bool:
        """Say whether a word has a translation, and can stand in a negated clause."""
        word = self._words.get((kind, lemma))
        return word is not None and Flag.SENTENCE not in word.flags

    def translate_sentence(self, event: ev.Event, id: str = "") -> Sentence:
        """Return an unambiguous sentence that translates an event. Raises UsageError if a word has no translation."""
        sentence = realize(self.translate(event), self.target, id=id)
        if _has_active_object(sentence.event) and len(parse(sentence.text, self.target)) > 1:
            return realize(_make_passive(sentence.event), self.target, id=id)
        return sentence

    def translate(self, event: ev.Event) -> ev.Event:
        """Return the translated event. Raises UsageError if a word or a form has no translation."""
        verb = self._find_word(Kind(str(event.frame)), event.predicate or "")
        has_dative = verb.kind is Kind.DATIVE
        is_fronted = has_dative and event.voice is ev.Voice.PASSIVE and event.gap is None
        arguments = {role.value: self._translate_argument(event.argument(role)) for role in event.roles}
        return replace(
            event,
            predicate=verb.lemma,
            frame=ev.Frame(verb.kind.value),
            voice=ev.Voice.ACTIVE if has_dative else event.voice,
            fronting=ev.Fronting.OBJECT if is_fronted else None,
            aspect=ev.Aspect.SIMPLE,
            negator=event.negator and ev.Negator.NOT,
            adverbs=tuple(self._find_word(Kind.ADVERB, adverb).lemma for adverb in event.adverbs or ()),
            **arguments,  # type: ignore[arg-type]
        )

    def _translate_argument(self, filler: ev.Argument | None) -> ev.Argument | None:
        if not isinstance(filler, ev.Participant):
            return filler
        clause = filler.clause
        if isinstance(clause, ev.RelativeClause):
            inner = self.translate(clause.event)
            clause = ev.RelativeClause(event=inner, relativizer=self.target.language.relativizer)
        return replace(
            filler,
            noun=self._find_word(Kind.NOUN, filler.noun or "").lemma,
            determiner=self._find_word(Kind.DETERMINER, filler.determiner or "").lemma,
            adjectives=tuple(self._find_word(Kind.ADJECTIVE, lemma).lemma for lemma in filler.adjectives),
            clause=clause,
        )

    def _find_word(self, kind: Kind, lemma: str) -> Word:
        if (kind, lemma) not in self._words:
            raise UsageError(f"the {kind} {lemma!r} has no translation in {self.target.source}")
        return self._words[kind, lemma]


def _find_source_kind(word: Word) -> Kind:
    return Kind.TRANSITIVE if word.kind is Kind.DATIVE else word.kind


def _has_active_object(event: ev.Event) -> bool:
    """Say whether a clause has an accusative object, which may look like a nominative."""
    clauses = (clause for clause, _ in ev.iterate_clauses(event))
    return any(c.frame is ev.Frame.TRANSITIVE and c.voice is ev.Voice.ACTIVE for c in clauses)


def _make_passive(event: ev.Event) -> ev.Event:
    """Return the event with all transitive clauses passive."""
    arguments: dict[str, Any] = {}
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            clause = replace(person.clause, event=_make_passive(person.clause.event), kind=None)
            arguments[role.value] = replace(person, clause=clause)
    if event.frame is ev.Frame.TRANSITIVE:
        arguments |= {"voice": ev.Voice.PASSIVE, "fronting": None}
    return replace(event, **arguments)


def iterate_translated_rows(triplets: TripletSet, translator: Translator) -> Iterator[dict[str, Any]]:
    """Yield the annotated record of each triplet, in which all sentences except the anchor are translated."""
    for line in format_triplet_lines(triplets, TripletFormat.JSONL):
        row = json.loads(line)
        del row["voices"]  # the translation has other voices
        for side in SIDES[1:]:
            record = row["annotation"][side]
            sentence = translator.translate_sentence(event_from_json(record["event"]), record["id"])
            row[side] = sentence.text
            row["annotation"][side] = json.loads(write_json(sentence))
        yield row


_DRAWS = 4
"""How many triplets are drawn for one in the output, because the two negatives of a triplet may translate alike."""


def format_translated_lines(space: TripletSpace, n: int, seed: int, translator: Translator) -> Iterator[str]:
    """Yield *n* translated triplets as lines of JSON; the two negatives of a triplet differ. Raises UsageError."""
    space.check_count(n)
    rows = iterate_translated_rows(space.sample_unchecked(min(_DRAWS * n, space.count()), seed=seed), translator)
    number = 0
    for number, row in enumerate(islice(filter(_has_two_negatives, rows), n), 1):
        row["id"] = f"{space.contrast.name}-{number}"
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"

    if number < n:
        raise UsageError(
            f"only {number} of the {n} triplets have two different negatives in {translator.target.language.name}"
        )


def _has_two_negatives(row: Mapping[str, Any]) -> bool:
    return bool(row[TripletSide.NEGATIVE] != row[TripletSide.HARD])


def iterate_translated_columns(triplets: TripletSet, translator: Translator) -> Iterator[TrainingColumns]:
    """Yield translated triplets as columns (anchor, positive, negative); half of the negatives are hard."""
    is_hard = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets)) % 2
    rows = zip(iterate_translated_rows(triplets, translator), is_hard.tolist(), strict=True)
    while portion := [*islice(rows, PORTION_SIZE)]:
        negatives = [row[TripletSide.HARD if hard else TripletSide.NEGATIVE] for row, hard in portion]
        texts = [[row[side] for row, _ in portion] for side in COLUMNS[:2]]
        yield dict(zip(map(str, COLUMNS), (*texts, negatives), strict=True))
