"""Units of the compeval tasks: items that belong together and balance each other.

A unit has as many items labelled TRUE as FALSE, all with the same probe words, and is never divided
between splits. In Order, SemRole and Negation it is a *mirror pair*: two sentences with exactly the
same words, in another order, and opposite labels, so that nothing computed from the bag of words
and the probe words can tell them apart.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product, zip_longest
from typing import TypeAlias

from sentprobe.generator import event as ev
from sentprobe.generator.constraints import Choices
from sentprobe.generator.drawn import DrawnEvent, parts_of
from sentprobe.probes.compeval.items import PATIENCE, Drawer, Probe, Unit
from sentprobe.probes.compeval.questions import Asked, Question, comes_first, is_agent

UnitMaker: TypeAlias = Callable[[Drawer, Probe], Iterator[Unit]]
"""Yields units for given probe words from the drawer's sub-template, in random order."""


def content1(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb occurs. One sentence with it, one without."""
    (verb,) = probe
    present = drawer.events(words=(verb,))
    absent = drawer.events(without=(verb,))
    for yes, no in zip(present, absent, strict=False):
        yield drawer.item(yes, label=True), drawer.item(no, label=False)


def content2(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether both words occur.

    Two sentences with both, one with the noun alone, one with the verb alone.
    """
    noun, verb = probe
    both = drawer.events(words=(noun, verb))
    noun_only = drawer.events(words=(noun,), without=(verb,))
    verb_only = drawer.events(words=(verb,), without=(noun,))
    for first, alone, without in zip(both, noun_only, verb_only, strict=False):
        second = next(both, None)
        if second is None:
            return
        yield (
            drawer.item(first, label=True),
            drawer.item(alone, label=False),
            drawer.item(second, label=True),
            drawer.item(without, label=False),
        )


def semrole(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun is the agent of the verb.

    The mirror swaps it with another noun of its number.
    """
    noun, verb = probe
    wanted = ev.Event(predicate=verb, agent=ev.Participant(noun=noun))
    return _pairs(drawer, probe, is_agent, drawer.events(required=(wanted,), words=probe))


def order(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun comes before the verb.

    The mirror swaps it with a noun of its number beyond the verb.
    """
    return _pairs(drawer, probe, comes_first, drawer.events(words=probe))


def _pairs(
    drawer: Drawer, probe: Probe, question: Question, events: Iterator[DrawnEvent]
) -> Iterator[Unit]:
    """Yield each event that has a mirror, with that: the noun swapped, and another answer."""

    def make(event: DrawnEvent) -> Unit | None:
        of = Asked(event, drawer.wording)
        label = question(of, probe) is True
        for mirror in _swaps(drawer, of, probe[0]):
            if question(Asked(mirror, drawer.wording), probe) is not label:
                return drawer.item(event, label=label), drawer.item(mirror, label=not label)
        return None

    return _while_some(map(make, events))


def _while_some(units: Iterator[Unit | None]) -> Iterator[Unit]:
    """Yield the units that there are, until a long run of events has given none.

    In some structures a probe has no mirror at all ("the man that the doctor helps sleeps": both
    nouns come before the last verb), and the events are too many to try them all.
    """
    misses = 0
    for unit in units:
        misses = 0 if unit is not None else misses + 1
        if unit is not None:
            yield unit
        elif misses == PATIENCE:
            return


def _swaps(drawer: Drawer, of: Asked, noun: str) -> Iterator[DrawnEvent]:
    """Yield the event with *noun* exchanged for another of its number, each that there is."""
    event, parts = of.event, parts_of(of.event.layout)
    numbers = {at: event.value(parts.determiners[at])[0] for at in parts.nouns}
    place = of.nouns[noun]
    others = [at for at in parts.nouns if at != place and numbers[at] == numbers[place]]
    for other in drawer.shuffled(others):
        yield event.exchanged(place, other)


_POSITIVE = ev.Event(polarity=ev.Polarity.POSITIVE)
ADVERBS = (0, 1, 2)
"""How many adverbs may stand before a verb in Negation."""


def negation(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb is positive. The mirror negates the other verb instead.

    Both verbs have a form of be as auxiliary: with do-support the words would change with the
    negation ("helps", "does not help").
    """
    (verb,) = probe
    if drawer.part.name:  # what is left may be nothing: chance would look for it for long
        drawer = drawer.lacking(_WITHOUT_BE)
    for event in one_negation(drawer, of=verb, admit=_has_be):
        main, inner = parts_of(event.layout).clauses
        mirror = event.exchanged(main.negation, inner.negation)
        yield drawer.item(event, label=False), drawer.item(mirror, label=True)


_WITHOUT_BE = ev.Event(aspect=ev.Aspect.SIMPLE, voice=ev.Voice.ACTIVE)


def _has_be(event: DrawnEvent) -> bool:
    return not any(
        event.value(clause.aspect) == ev.Aspect.SIMPLE and clause.voice_of(event) == ev.Voice.ACTIVE
        for clause in parts_of(event.layout).clauses
    )


def one_negation(
    drawer: Drawer, *, of: str | None = None, admit: Callable[[DrawnEvent], bool] = lambda _: True
) -> Iterator[DrawnEvent]:
    """Yield events of two clauses, one of them negated; with *of*, the one with that verb.

    Only those that *admit* holds of. How many adverbs stand before each verb is drawn first: among
    all events, nearly all have as many as there may be.
    """
    this = ev.Event(predicate=of, polarity=ev.Polarity.NEGATIVE)
    sites = [(this, _POSITIVE), (_POSITIVE, this)]
    numbers = drawer.rng.sample(list(product(ADVERBS, ADVERBS)), len(ADVERBS) ** 2)
    return _by_turns(
        [
            filter(
                admit,
                drawer.events(
                    choices=Choices(main=main, clause=clause, adverbs=(n,), clause_adverbs=(m,))
                ),
            )
            for half in range(2)
            for i, (n, m) in enumerate(numbers)
            for main, clause in [sites[(i + half) % 2]]
        ]
    )


def _by_turns(sources: Sequence[Iterator[DrawnEvent]]) -> Iterator[DrawnEvent]:
    """Yield from each source in turn, and on from those that are left when one is spent."""
    for events in zip_longest(*sources):
        yield from (event for event in events if event is not None)


def in_turn(sources: Sequence[Iterator[Unit]], count: int, used: set[str]) -> list[Unit]:
    """Take units from the sources in turn, until there are *count* or no more."""
    found: list[Unit] = []
    while sources and len(found) < count:
        taken = [(source, take(source, used)) for source in sources[: count - len(found)]]
        found += [unit for _, unit in taken if unit is not None]
        spent = [source for source, unit in taken if unit is None]
        sources = [source for source in sources if source not in spent]
    return found


def take(units: Iterator[Unit], used: set[str]) -> Unit | None:
    """Take the next unit whose sentences are all new, and add these to *used*.

    None if there is no such unit, or none among the next few.
    """
    for unit in islice(units, PATIENCE):
        texts = {item.text for item in unit}
        if len(texts) == len(unit) and not texts & used:
            used |= texts
            return unit
    return None
