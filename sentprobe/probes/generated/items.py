"""Items of the compeval tasks: how their events are sampled, how units are chosen, and how a card counts them.

Units are chosen from several sources: in turn, by weight, or so that their sentences differ in all places alike.
A card counts items by label, structure, and clause of the probe words.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from random import Random
from typing import Any, TypeAlias, TypeVar

from numpy.random import default_rng

from sentprobe.common.errors import format_count
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Contradiction, Event, Fronting, Voice
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.counting import sample_distinct
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts
from sentprobe.generator.spaces.profile import UNMARKED, Profile, count_features, read_published
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.probes.datasets.dataset import Card, Split

Item = TypeVar("Item")
Probe: TypeAlias = tuple[str, ...]
"""Probe words of an item: none, a verb, or a noun before a verb or adjective, as in ``("doctor", "help")``."""
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
        """Yield distinct events of ``make_space(**limits)`` in random order."""
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
        # With a profile, a stratum is drawn for each event. Sampling ends with the first drawn stratum that is used up:
        # without it, the others would be more frequent than the profile says.
        sources = [self._sample_range(space, stratum.start, stratum.end) for stratum in space.strata]
        shares = [stratum.share for stratum in space.strata]
        while (event := next(self.rng.choices(sources, shares)[0], None)) is not None:
            yield event

    def _sample_range(self, space: Space, start: int, end: int) -> Iterator[DrawnEvent]:
        seen: set[int] = set()
        # Blocks double in size, since most callers stop after few events.
        size = min(8, end - start)
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


ItemsBySplit = Mapping[Split, Sequence[tuple[Probe, UnitItem]]]


def count_items(items: ItemsBySplit, *, labels: Sequence[str]) -> dict[str, int]:
    """Return the number of items by split and feature, such as ``{"test: TRUE": 28, "test: 2 nouns": 19}``."""
    counts: Counter[str] = Counter()
    for split, questions in items.items():
        counts.update(f"{split.value}: {item.part}" for _, item in questions if item.part)
        counts.update(f"{split.value}: {labels[item.label]}" for _, item in questions)
        # Items have few different structures, so these are counted before their features are named.
        structures = Counter(_describe_structure(probe, item) for probe, item in questions)
        for (template, clauses, nouns, places), count in structures.items():
            (voice, aspect), *inner = clauses
            features = [f"{template}, {voice}", f"main clause {aspect}", format_count(nouns, "noun")]
            features += [f"relative clause {inner_aspect}" for _, inner_aspect in inner]
            features += [f"probe: {places}"] if places else []
            for feature in features:
                counts[f"{split.value}: {feature}"] += count
    return dict(sorted(counts.items()))


def count_templates(card: Card, split: Split) -> dict[str, int]:
    """Return the number of items of a split by sub-template, added up from the counts in a card.

    >>> card = Card("Order", counts={"test: transitive, active": 3, "test: transitive, passive": 1})
    >>> count_templates(card, Split.TEST)
    {'transitive': 4}
    """
    counts: Counter[str] = Counter()
    for key, count in card.counts.items():
        name, _, voice = key.removeprefix(f"{split.value}: ").partition(", ")
        if key.startswith(f"{split.value}: ") and voice in [*Voice]:
            counts[name] += count
    return dict(counts)


def _describe_structure(probe: Probe, item: UnitItem) -> tuple[str, tuple[tuple[str, str], ...], int, str]:
    """Return an item's template, voice and aspect of each clause (main first), number of nouns, and probe places."""
    event, parts = item.event, find_layout_parts(item.event.layout)
    nouns = [(event.get_value(noun), event.layout.variables[noun].name) for noun in parts.nouns]
    verbs = [(event.get_value(clause.verb), clause.site.path) for clause in parts.clauses]
    adjectives = [(event.get_value(at), event.layout.variables[at].name) for at in parts.adjectives]
    second = ("adjective", adjectives) if adjectives else ("verb", verbs)
    # One probe word is a verb or adjective; of two, the first is a noun.
    probe_kinds = (("noun", nouns), second)[2 - len(probe) :]
    places = []
    for (kind, words_with_paths), word in zip(probe_kinds, probe, strict=True):
        path = next((path for value, path in words_with_paths if value == word), None)
        place = "absent" if path is None else "in relative clause" if "clause" in path else "in main clause"
        places.append(f"{kind} {place}")
    return (
        item.template,
        tuple((clause.find_voice(event), str(event.get_value(clause.aspect))) for clause in parts.clauses),
        len(nouns),
        ", ".join(places),
    )


def compute_composition(items: ItemsBySplit) -> dict[str, dict[str, float]]:
    """Return the shares (0 to 1) of feature values in the sentences and in the published datasets.

    An example is ``{"structure transitive": {"share": 0.0694, "published": 0.07}}``.
    """
    events = {item.text: item.event for questions in items.values() for _, item in questions}
    counts = count_features(events.values())
    published = read_published()[1]
    return {
        f"{feature} {value}": {
            "share": round(counts[feature][value] / counts[feature].total(), 4),
            "published": published[feature].get(value, 0) / 100,
        }
        for feature in published
        if feature in counts
        for value in sorted({*published[feature], *counts[feature]} - UNMARKED)
    }


def compute_largest_shares(items: ItemsBySplit) -> dict[str, float]:
    """Return the share (0 to 1) of the most frequent sub-template among the items of each split."""
    return {
        split.value: max(Counter(item.template for _, item in questions).values()) / len(questions)
        for split, questions in sorted(items.items(), key=lambda entry: list(Split).index(entry[0]))
    }


def take_units(sources: Mapping[str, Iterator[Unit]], count: int, used: set[str], uses: Counter[object]) -> list[Unit]:
    """Return up to *count* units in total, one from each source in turn. Their new sentences are added to *used*.

    - sources: the units of each sub-template, by its name
    - uses: counts the turns of sub-templates (those without a unit, too, so that sub-templates that have none are not
      always tried first), and the numbers of adverbs of units. Sources can balance both
    """
    units: list[Unit] = []
    queue = deque(sources.items())
    while queue and len(units) < count:
        template, source = queue.popleft()
        uses[template] += 1
        if (unit := take_new_unit(source, used)) is not None:
            units.append(unit)
            queue.append((template, source))
            (_, item), *_ = unit
            uses[tuple(site.adverbs for site in item.event.layout.clauses)] += 1
    return units


def take_weighted_units(
    sources: Sequence[Iterator[Unit]], weights: Sequence[float], count: int, used: set[str], rng: Random
) -> tuple[list[Unit], int | None]:
    """Return up to *count* units from sources sampled by weight, and the index of a source that ran out, or None.

    Units with a sentence in *used* are skipped; the sentences of returned units are added to *used*. If a source runs
    out after it gave a unit, sampling stops and the source's index is returned. A source without any unit is dropped.
    """
    units: list[Unit] = []
    remaining, productive = dict(enumerate(weights)), set[int]()
    while remaining and len(units) < count:
        (at,) = rng.choices([*remaining], [*remaining.values()])
        unit = take_new_unit(sources[at], used)
        if unit is not None:
            units.append(unit)
            productive.add(at)
        # Without this source, the others would be more frequent than their weights say.
        elif at in productive:
            return units, at
        else:
            del remaining[at]
    return units, None


_MAX_SHARE = 0.16
"""Share of units with a property, from which on units of further sources are looked at."""
_LOOKS = 16
"""Number of further sources that are looked at, at most, before the best of the waiting units is taken."""


def take_spread_units(
    sources: Mapping[str, Iterator[Unit]], count: int, used: set[str], uses: Counter[object]
) -> list[Unit]:
    """Return up to *count* units whose sentences differ in places in which units taken before rarely differ.

    A word at a place where the sentences of a unit are equal cannot tell them apart. *uses* counts the units that
    differ in each place, and those of each sub-template, and is updated. Units that are not taken wait for their turn.
    """
    units: list[Unit] = []
    waiting: list[tuple[list[object], Unit, Iterator[Unit]]] = []
    queue = deque(sources.values())
    while len(units) < count and (queue or waiting):
        for _ in range(min(len(queue), _LOOKS)):
            if waiting and min(rank_uses(uses, keys)[0] for keys, *_ in waiting) <= _MAX_SHARE * uses[ALL_UNITS]:
                break
            source = queue.popleft()
            if (unit := take_new_unit(source, used)) is not None:
                waiting.append(([*find_places(unit), unit[0][1].template], unit, source))
                queue.append(source)
        if waiting:
            best = min(range(len(waiting)), key=lambda at: rank_uses(uses, waiting[at][0]))
            keys, unit, source = waiting.pop(best)
            units.append(unit)
            uses.update([*keys, ALL_UNITS])
            if source in queue:  # what gave a good unit is looked at first
                queue.remove(source)
                queue.appendleft(source)
    # Units that were looked at but not taken may be drawn for other questions.
    used.difference_update(item.text for _, unit, _ in waiting for _, item in unit)
    return units


def find_places(unit: Unit) -> list[int]:
    """Return the places in which a unit's two sentences differ, from the start (0, 1, ...) and the end (-1, ...)."""
    first, second = dict.fromkeys(item.text for _, item in unit)
    left, right = first.split(), second.split()
    forward = [at for at, words in enumerate(zip(left, right, strict=False)) if words[0] != words[1]]
    backward = [-1 - at for at, words in enumerate(zip(left[::-1], right[::-1], strict=False)) if words[0] != words[1]]
    return [*forward, *backward]


def take_new_unit(units: Iterator[Unit], used: set[str]) -> Unit | None:
    """Return the next unit whose sentences are distinct and unused; add them to *used*. None after MAX_MISSES units."""
    for unit in islice(units, MAX_MISSES):
        texts = {item.text for _, item in unit}
        if len(texts) * len({probe for probe, _ in unit}) == len(unit) and not texts & used:
            used |= texts
            return unit
    return None
