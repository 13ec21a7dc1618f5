"""What a sentence of the generator is like, seen from what is asked about it.

Asked about is a clause: that of the verb among the probe words, or the main clause where none of
its verbs is one. The noun asked about is the one among the probe words, or the subject of that
clause where none of its nouns is one. In "the doctors that the lawyer helped slept", asked about
*lawyer* and *sleep*, that is the main clause, and the noun in the relative clause.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sentprobe.generator import event as ev
from sentprobe.generator.notation import write_event
from sentprobe.generator.plan import plan_sentence, slots_of
from sentprobe.generator.templates import ClausePattern, pattern_of

NESTED = "nested"
"""In place of a template, where a relative clause is inside another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedClause:
    """A clause of an event: its path in the slots of words, and of which kind it is."""

    path: str
    event: ev.Event
    kind: ev.ClauseKind | None
    """Of a relative clause."""

    @property
    def subject(self) -> str:
        """The slot of the noun that is its subject; in a relative clause it may be the head."""
        filler = self.event.argument(self.event.subject)
        if isinstance(filler, ev.Participant):
            return f"{self.path}{self.event.subject.value}.noun"
        return f"{self.path.removesuffix('clause.')}noun"


def annotated_clauses(
    event: ev.Event, path: str = "", kind: ev.ClauseKind | None = None
) -> Iterator[AnnotatedClause]:
    """Yield the clauses of an event, the main one first."""
    yield AnnotatedClause(path=path, event=event, kind=kind)
    for role, person in ev.participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner = person.clause
            yield from annotated_clauses(inner.event, f"{path}{role.value}.clause.", inner.kind)


class AskedEvent:
    """An event and the words that are asked about, as lemmas."""

    def __init__(self, event: ev.Event, probes: Sequence[str] = ()) -> None:
        self.event = event
        self.clauses = tuple(annotated_clauses(event))
        self._slots = slots_of(event)
        self._probes = tuple(probes)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where the word of each slot stands, from 0."""
        return {token.slot: at for at, token in enumerate(plan_sentence(self.event).tokens)}

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """Where the probe words stand, from 0, as far as they occur."""
        probed = (slot for slot, lemma in self._slots.items() if lemma in self._probes)
        found = (s for s in probed if s.endswith(("noun", "verb")))
        return tuple(sorted(self.places[slot] for slot in found))

    @cached_property
    def clause(self) -> AnnotatedClause:
        """The clause that is asked about."""
        asked = (each for each in self.clauses if each.event.predicate in self._probes)
        return next(asked, self.clauses[0])

    @cached_property
    def noun(self) -> str:
        """The slot of the noun that is asked about."""
        nouns = (slot for slot in self._slots if slot.endswith("noun"))
        asked = (slot for slot in nouns if self._slots[slot] in self._probes)
        return next(asked, self.clause.subject)

    @cached_property
    def between(self) -> range:
        """The places between the noun and the verb that are asked about."""
        ends = sorted((self.places[self.noun], self.places[f"{self.clause.path}verb"]))
        return range(ends[0] + 1, ends[1])

    @cached_property
    def numbers(self) -> Mapping[str, ev.Number | None]:
        """The number of each noun, by its slot."""
        return {
            f"{clause.path}{role.value}.noun": person.number
            for clause in self.clauses
            for role, person in ev.participants(clause.event)
        }

    @property
    def attractors(self) -> int:
        """How many nouns stand between, of another number than the noun that is asked about."""
        own = self.numbers[self.noun]
        others = (slot for slot, number in self.numbers.items() if number is not own)
        return sum(self.places[slot] in self.between for slot in others)

    @property
    def template(self) -> str:
        """The sub-template of the sentence, as ``gen templates`` names it."""
        if any(each.path.count("clause.") > 1 for each in self.clauses):
            return NESTED
        patterns = []
        for role, person in ev.participants(self.event):
            if isinstance(inner := person.clause, ev.RelativeClause):
                clause = inner.event
                assert clause.frame and clause.gap and clause.voice and inner.kind
                pattern = ClausePattern(clause.frame, inner.kind, clause.gap, clause.voice)
                patterns.append((role, pattern))
        assert self.event.frame
        return pattern_of(self.event.frame, tuple(patterns)).name

    @property
    def notation(self) -> str:
        """The event as text."""
        return write_event(self.event)


_KINDS = {
    None: "main",
    ev.ClauseKind.SUBJECT: "subject relative",
    ev.ClauseKind.OBJECT: "object relative",
}

_ASPECTS = {ev.Aspect.SIMPLE: "simple", ev.Aspect.PROGRESSIVE: "progressive"}
_TENSES = {ev.Tense.PAST: "past", ev.Tense.PRESENT: "present"}
_POLARITIES = {ev.Polarity.POSITIVE: "positive", ev.Polarity.NEGATIVE: "negative"}

EVENT_COLUMNS: Mapping[str, Callable[[AskedEvent], object]] = {
    "voice": lambda of: of.clause.event.voice,
    "clause": lambda of: _KINDS[of.clause.kind],
    "distance": lambda of: len(of.between),
    "attractors": lambda of: of.attractors,
    "tense": lambda of: _TENSES[of.clause.event.tense or ev.Tense.PAST],
    "aspect": lambda of: _ASPECTS[of.clause.event.aspect or ev.Aspect.SIMPLE],
    "polarity": lambda of: _POLARITIES[of.clause.event.polarity or ev.Polarity.POSITIVE],
    "template": lambda of: of.template,
}
"""The columns by name, each with what it says of an event and of what is asked about it."""


def event_columns(of: AskedEvent) -> dict[str, str]:
    """Return what each column says of an event that is whole.

    >>> from sentprobe.generator.parse import parse
    >>> from sentprobe.lexicon import english
    >>> (event,) = parse("the doctors that the lawyer helped slept", english())
    >>> asked = event_columns(AskedEvent(event, ["doctor", "sleep"]))
    >>> asked["clause"], asked["distance"], asked["attractors"]
    ('main', '4', '1')
    """
    return {name: str(tell(of)) for name, tell in EVENT_COLUMNS.items()}
