"""The items of the compeval tasks, and the events that they are drawn from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import TypeAlias, TypeVar

from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.drawn import DrawnEvent, parts_of
from sentprobe.generator.event import Contradiction, Event
from sentprobe.generator.space import Space
from sentprobe.generator.wording import Wording

Item = TypeVar("Item")

Probe: TypeAlias = tuple[str, ...]
"""The probe words of an item: a verb, or a noun and a verb."""

_BLOCK = 8

PATIENCE = 64
"""How many events in a row may give no new unit before a structure is given up."""

REJECTED = 512
"""How many events in a row may have the words of a pair that is kept apart before that is all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitItem:
    """A sentence: its event, text and sub-template, and its label under the probe words."""

    event: DrawnEvent
    text: str
    template: str
    label: bool
    part: str = ""
    """Of the items: whether its structure is held out; empty where none is."""


Unit: TypeAlias = tuple[UnitItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Sentences that have a structure, or that lack it: their name, and the events of these."""

    name: str = ""
    having: tuple[Event, ...] = ()
    """Each sentence contains at least one of these, if there are any."""
    lacking: tuple[Event, ...] = ()
    """No sentence contains one of these."""


ALL = Part()
"""All sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """Draws events of a vocabulary, uniformly within one sub-template, and words them."""

    wording: Wording
    vocabulary: str
    template: str
    rng: Random
    apart: frozenset[Probe] = frozenset()
    """Pairs of noun and verb; no event has both words of one."""
    part: Part = ALL

    def events(
        self,
        *,
        required: tuple[Event, ...] = (),
        words: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
        choices: Choices | None = None,
    ) -> Iterator[DrawnEvent]:
        """Yield different events in random order, until there are no more.

        *words* must occur, those in *without* must not.
        """
        partners = {verb for noun, verb in self.apart if noun in words}
        partners |= {noun for noun, verb in self.apart if verb in words}
        constraints = Constraints(
            required=required,
            required_any=self.part.having,
            forbidden=self.part.lacking,
            required_words=words,
            forbidden_words=(*without, *sorted(partners - {*without})),
        )
        try:
            space = Space(
                self.wording.lexicon,
                vocabulary=self.vocabulary,
                templates=(self.template,),
                choices=choices,
                constraints=constraints,
                explained=False,
            )
        except Contradiction:
            return
        misses = 0
        for event in self._draw(space):
            if not self._has_pair(event):
                misses = 0
                yield event
            elif (misses := misses + 1) == REJECTED:
                return

    def lacking(self, event: Event) -> "Drawer":
        """Return the drawer of those sentences that do not contain an event."""
        return replace(self, part=replace(self.part, lacking=(*self.part.lacking, event)))

    def _has_pair(self, event: DrawnEvent) -> bool:
        """Say whether the event has both words of a pair that is to be kept apart."""
        if not self.apart:
            return False
        parts = parts_of(event.layout)
        nouns = map(event.value, parts.nouns)
        verbs = [event.value(clause.verb) for clause in parts.clauses]
        return not self.apart.isdisjoint(product(nouns, verbs))

    def _draw(self, space: Space) -> Iterator[DrawnEvent]:
        seen: set[int] = set()
        size = _BLOCK
        while len(seen) < space.count():
            indices = space.sample(min(size, space.count()), seed=self.rng.getrandbits(63))
            fresh = [index for index in indices.tolist() if index not in seen]
            seen.update(fresh)
            if fresh:
                yield from space.drawn(fresh)
            size = min(2 * size, space.count())

    def item(self, event: DrawnEvent, *, label: bool) -> UnitItem:
        """Return the item of *event*."""
        text = self.wording.text(event)
        return UnitItem(
            event=event, text=text, template=self.template, label=label, part=self.part.name
        )

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return *items* in random order."""
        return self.rng.sample(items, len(items))
