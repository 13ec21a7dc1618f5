"""Items of the compeval tasks, and the sampling of events for their sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Any, TypeAlias, TypeVar

from numpy.random import default_rng

from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Contradiction, Event, Fronting
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.counting import sample_distinct
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts
from sentprobe.generator.spaces.profile import Profile
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns

Item = TypeVar("Item")
Probe: TypeAlias = tuple[str, ...]
"""Probe words of an item: none, a verb, or a noun before a verb or adjective, as in ``("doctor", "help")``."""
_FIRST_BLOCK = 8
Questions: TypeAlias = tuple[Probe, ...]
"""The probe words of the two questions about each sentence of a unit, or of the only one: ``((),)`` or two probes."""
MAX_MISSES = 64
"""Sampling for a probe stops after this number of successive events without a new unit."""
MAX_REJECTED = 512
"""Sampling stops after this number of successive rejected events, such as training events with a held-out pair."""


def filter_bounded(accept: Callable[[Item], bool], items: Iterator[Item], limit: int = MAX_REJECTED) -> Iterator[Item]:
    """Yield the items that *accept* returns true for, until *limit* successive items are rejected."""
    misses = 0
    for item in items:
        if accept(item):
            misses = 0
            yield item
        elif (misses := misses + 1) == limit:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitItem:
    """An item of a unit: a sentence, its event, the name of its structure, and its label for some probe words."""

    event: DrawnEvent
    text: str
    template: str
    label: int
    part: str = ""
    """Name of the item's :class:`Part`; empty if no structure is held out."""


ProbedItem: TypeAlias = tuple[Probe, UnitItem]
"""The probe words of an item, and the item itself."""
Unit: TypeAlias = tuple[ProbedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A subset of the items, defined by the partial events that their sentences contain or lack."""

    name: str = ""
    having: tuple[Event, ...] = ()
    """Each sentence contains at least one of these events; empty: no requirement."""
    lacking: tuple[Event, ...] = ()
    """No sentence contains any of these events."""


ALL_SENTENCES = Part()
ALL_UNITS = 10**9
"""The key of :attr:`Drawer.uses` under which all units are counted; no sentence has such a place."""


def rank_uses(uses: Counter[object], keys: Iterable[object]) -> list[int]:
    """Return how often each of *keys* is used, the most used first; the least list is that of the best keys."""
    return sorted((uses[key] for key in keys), reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """A sampler of the events of one sub-template and vocabulary, uniform or weighted by a profile."""

    wording: DrawnTextRenderer
    vocabulary: str
    template: str
    rng: Random
    separated_pairs: frozenset[Probe] = frozenset()
    """Pairs of a noun and a verb or adjective that never occur together in an event."""
    part: Part = ALL_SENTENCES
    profile: Profile | None = None
    weight: float = 1
    """Weight of the sub-template in the profile."""
    uses: Counter[object] = field(default_factory=Counter)
    """The number of turns so far of a sub-template (by name), of units with numbers of adverbs (one for each clause),
    and, in Order, of units whose sentences differ in a place (0 is the first word, -1 the last)."""

    @property
    def may_lack_units(self) -> bool:
        """Whether some probe words may have too few units, so that other probe words must get more."""
        has_cases = len(self.wording.lexicon.language.cases) > 1  # nouns of different genders cannot be swapped
        return bool(self.part.name) or self.profile is not None or has_cases

    def list_template_drawers(self, templates: Sequence[str]) -> list["Drawer"]:
        """Return a drawer for each pattern of *templates*, in random order; skip patterns that have weight 0."""
        names = list(dict.fromkeys(pattern.name for pattern in find_patterns(templates)))
        weights = self.profile.weigh_templates(names) if self.profile else dict.fromkeys(names, 1.0)
        return [replace(self, template=name, weight=weights[name]) for name in self.shuffle(names) if weights[name]]

    def has_weight(self, template: str) -> bool:
        return self.profile is None or self.profile.weigh_templates([template])[template] > 0

    def sample_events(self, **limits: Any) -> Iterator[DrawnEvent]:
        """Yield distinct events of ``make_space(**limits)`` in random order.

        With a profile, a part of the space is drawn at random for each event. Sampling ends when the drawn part has no
        event left, even if other parts still have events.
        """
        space = self.make_space(**limits)
        if space is not None:
            yield from filter_bounded(lambda event: not self._has_separated_pair(event), self._sample_space(space))

    def make_space(
        self,
        *,
        required: tuple[Event, ...] = (),
        words: tuple[str, ...] = (),
        forbidden_words: tuple[str, ...] = (),
        choices: Choices | None = None,
    ) -> Space | None:
        """Return the space of the template under these constraints (*words* are required); None if no event fits."""
        choices = choices or Choices()
        if self.wording.lexicon.language.has_fronting:  # objects come first too, if that is unambiguous
            choices = replace(choices, frontings=(None, Fronting.OBJECT), decided=True)
        # Held-out partners of required words are excluded here; _has_separated_pair rejects all other held-out pairs.
        partners = {word for noun, word in self.separated_pairs if noun in words}
        partners |= {noun for noun, word in self.separated_pairs if word in words}
        constraints = Constraints(
            required=required,
            required_any=self.part.having,
            forbidden=self.part.lacking,
            required_words=words,
            forbidden_words=(*forbidden_words, *sorted(partners - {*forbidden_words})),
        )
        try:
            return Space(
                self.wording.lexicon,
                vocabulary=self.vocabulary,
                templates=(self.template,),
                choices=choices,
                constraints=constraints,
                profile=self.profile,
                explained=False,
            )
        except Contradiction:
            return None

    def exclude(self, event: Event) -> "Drawer":
        """Return a drawer that never samples a sentence that contains *event*."""
        return replace(self, part=replace(self.part, lacking=(*self.part.lacking, event)))

    def _has_separated_pair(self, event: DrawnEvent) -> bool:
        if not self.separated_pairs:
            return False
        parts = find_layout_parts(event.layout)
        nouns = map(event.get_value, parts.nouns)
        partners = [event.get_value(variable) for variable in (*(c.verb for c in parts.clauses), *parts.adjectives)]
        return not self.separated_pairs.isdisjoint(product(nouns, partners))

    def _sample_space(self, space: Space) -> Iterator[DrawnEvent]:
        if not space.strata:
            yield from self._sample_range(space, 0, space.count())
            return
        sources = [self._sample_range(space, stratum.start, stratum.end) for stratum in space.strata]
        shares = [stratum.share for stratum in space.strata]
        while (event := next(self.rng.choices(sources, shares)[0], None)) is not None:
            yield event

    def _sample_range(self, space: Space, start: int, end: int) -> Iterator[DrawnEvent]:
        seen: set[int] = set()
        # Blocks double in size, since most callers stop after few events.
        size = min(_FIRST_BLOCK, end - start)
        while len(seen) < end - start:
            ranks = sample_distinct(size, end - start, default_rng(self.rng.getrandbits(63)))
            fresh = [rank for rank in ranks.tolist() if rank not in seen]
            seen.update(fresh)
            if fresh:
                yield from space.decode([start + rank for rank in fresh])
            size = min(2 * size, end - start)

    def build_item(self, event: DrawnEvent, *, label: int) -> UnitItem:
        text = self.wording.render(event)
        return UnitItem(event=event, text=text, template=event.layout.pattern.name, label=label, part=self.part.name)

    def shuffle(self, items: Sequence[Item]) -> list[Item]:
        """Return *items* in random order."""
        return self.rng.sample(items, len(items))
