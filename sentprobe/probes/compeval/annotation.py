"""Properties of a generated sentence, relative to the probed clause and the probed noun.

The probed clause is the clause of the probed verb, else the main clause. The probed noun is the noun among the
probe words, else the subject of the probed clause.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.sentences.sentence_plan import find_slots, plan_sentence
from sentprobe.generator.spaces.templates import find_event_pattern
from sentprobe.lexicon.languages.language import Language

NESTED = "nested"
"""The name of the sub-template of sentences that have a relative clause inside a relative clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedClause:
    """The main clause or a relative clause of an event."""

    path: str
    """The prefix of the slot names of the clause's words: ``"agent.clause."``, or "" for the main clause."""
    event: ev.Event
    kind: ev.ClauseKind | None
    """Subject or object relative; None for the main clause."""

    @property
    def subject(self) -> str:
        """The slot name of the subject, such as ``"agent.noun"``; in a subject relative, the modified noun's slot."""
        if self.event.argument(self.event.subject) is ev.GAP:
            return f"{self.path.removesuffix('clause.')}noun"
        return f"{self.path}{self.event.subject.value}.noun"


def iterate_clauses(event: ev.Event, path: str = "", kind: ev.ClauseKind | None = None) -> Iterator[AnnotatedClause]:
    """Yield the main clause of an event, then its relative clauses at any depth."""
    yield AnnotatedClause(path=path, event=event, kind=kind)
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            relative = person.clause
            yield from iterate_clauses(relative.event, f"{path}{role.value}.clause.", relative.kind)


class ProbedEvent:
    """An event, and the lemmas of the probe words that an item asks about."""

    def __init__(self, event: ev.Event, probes: Sequence[str] = (), *, language: Language) -> None:
        self.event = event
        self._language = language
        self.clauses = tuple(iterate_clauses(event))
        self._slots = find_slots(event)
        self._probes = tuple(probes)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The index of each word among the tokens of the sentence, by slot name such as ``"agent.noun"``."""
        tokens = plan_sentence(self.event, self._language).tokens
        return {token.slot: position for position, token in enumerate(tokens)}

    @cached_property
    def probe_positions(self) -> tuple[int, ...]:
        """The token indices of the probe words, in ascending order."""
        probe_slots = (slot for slot, lemma in self._slots.items() if lemma in self._probes)
        word_slots = (slot for slot in probe_slots if slot.endswith(("noun", "verb", "adjective0")))
        return tuple(sorted(self.positions[slot] for slot in word_slots))

    @cached_property
    def clause(self) -> AnnotatedClause:
        """The probed clause: the clause of the probed verb, else the main clause."""
        probed_clauses = (clause for clause in self.clauses if clause.event.predicate in self._probes)
        return next(probed_clauses, self.clauses[0])

    @cached_property
    def noun(self) -> str | None:
        """The slot name of the probed noun, else of the probed clause's subject, else of the first noun, else None."""
        nouns = [slot for slot in self._slots if slot.endswith("noun")]
        probed_nouns = (slot for slot in nouns if self._slots[slot] in self._probes)
        subjects = (slot for slot in nouns if slot == self.clause.subject)
        return next(chain(probed_nouns, subjects, nouns), None)

    @cached_property
    def between(self) -> range:
        """The token indices between the probed noun and the verb of the probed clause; empty if there is no noun."""
        if self.noun is None:
            return range(0)
        positions = sorted((self.positions[self.noun], self.positions[f"{self.clause.path}verb"]))
        return range(positions[0] + 1, positions[1])

    @cached_property
    def numbers(self) -> Mapping[str, ev.Number | None]:
        """The grammatical number (singular or plural) of each noun, by slot name."""
        numbers = {}
        for clause in self.clauses:
            for role, person in ev.iterate_participants(clause.event):
                path = f"{clause.path}{role.value}."
                numbers[f"{path}noun"] = person.number
                if person.conjunct is not None:
                    numbers[f"{path}conjunct.noun"] = person.conjunct.number
        return numbers

    @property
    def attractors(self) -> int:
        """How many nouns between the probed noun and the verb differ from the probed noun in grammatical number."""
        noun_number = None if self.noun is None else self.numbers[self.noun]
        other_slots = (slot for slot, number in self.numbers.items() if number is not noun_number)
        return sum(self.positions[slot] in self.between for slot in other_slots)

    @property
    def template(self) -> str:
        """The name of the sentence's sub-template, as listed by ``gen templates``; or NESTED."""
        if any(clause.path.count("clause.") > 1 for clause in self.clauses):
            return NESTED
        return find_event_pattern(self.event).name

    @property
    def notation(self) -> str:
        """The event as text, such as ``"help[passive](agent: man)"``."""
        return write_event(self.event)


_KINDS = {None: "main", ev.ClauseKind.SUBJECT: "subject relative", ev.ClauseKind.OBJECT: "object relative"}
_ASPECTS = {ev.Aspect.SIMPLE: "simple", ev.Aspect.PROGRESSIVE: "progressive", ev.Aspect.PERFECT: "perfect"}
_TENSES = {ev.Tense.PAST: "past", ev.Tense.PRESENT: "present"}
_POLARITIES = {ev.Polarity.POSITIVE: "positive", ev.Polarity.NEGATIVE: "negative"}


def _name_tense(event: ev.Event) -> str:
    return _TENSES[event.tense] if event.tense is not None else "none" if event.modal is None else "modal"


EVENT_COLUMNS: Mapping[str, Callable[[ProbedEvent], object]] = {
    "voice": lambda probed: probed.clause.event.voice,
    "clause": lambda probed: _KINDS[probed.clause.kind],
    "distance": lambda probed: len(probed.between),
    "attractors": lambda probed: probed.attractors,
    "tense": lambda probed: _name_tense(probed.clause.event),
    "aspect": lambda probed: _ASPECTS[probed.clause.event.aspect or ev.Aspect.SIMPLE],
    "polarity": lambda probed: _POLARITIES[probed.clause.event.polarity or ev.Polarity.POSITIVE],
    "template": lambda probed: probed.template,
}


def build_event_columns(probed_event: ProbedEvent) -> dict[str, str]:
    """Return the values of EVENT_COLUMNS as text, by column name; the event must have no open fields.

    >>> from sentprobe.generator.sentences.parse import parse
    >>> from sentprobe.lexicon import english
    >>> (event,) = parse("the doctors that the lawyer helped slept", english())
    >>> columns = build_event_columns(ProbedEvent(event, ["doctor", "sleep"], language=english().language))
    >>> columns["clause"], columns["distance"], columns["attractors"]
    ('main', '4', '1')
    """
    return {name: str(describe(probed_event)) for name, describe in EVENT_COLUMNS.items()}
