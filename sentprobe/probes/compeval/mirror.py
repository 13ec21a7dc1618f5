"""Units of the compeval tasks: items that belong together and balance each other.

A unit has as many items labelled TRUE as FALSE, all with the same probe words, and is never divided
between splits. In Order, SemRole and Negation it is a *mirror pair*: two sentences with exactly the
same words, in another order, and opposite labels, so that nothing computed from the bag of words
and the probe words can tell them apart.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product, zip_longest
from typing import TypeAlias

from sentprobe.generator import event as ev
from sentprobe.generator.constraints import Choices
from sentprobe.generator.plan import slots_of, with_words
from sentprobe.probes.compeval.items import PATIENCE, Drawer, Probe, Unit
from sentprobe.probes.compeval.questions import places_of, precedes

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

    def make(event: ev.Event) -> Unit | None:
        swapped = (with_words(event, w.__getitem__) for w in _swaps(drawer, event, noun))
        mirror = next((other for other in swapped if not ev.contains(other, wanted)), None)
        if mirror is None:
            return None
        return drawer.item(event, label=True), drawer.item(mirror, label=False)

    return _while_some(map(make, drawer.events(required=(wanted,), words=probe)))


def order(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun comes before the verb.

    The mirror swaps it with a noun of its number beyond the verb.
    """

    def make(event: ev.Event) -> Unit | None:
        places = places_of(event)  # those of its mirror too
        label = precedes(slots_of(event), probe, places)
        for words in _swaps(drawer, event, probe[0]):
            if precedes(words, probe, places) is not label:
                mirror = with_words(event, words.__getitem__)
                return drawer.item(event, label=label), drawer.item(mirror, label=not label)
        return None

    return _while_some(map(make, drawer.events(words=probe)))


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


def _swaps(drawer: Drawer, event: ev.Event, noun: str) -> Iterator[dict[str, str]]:
    """Yield the words of *event* by slot, *noun* exchanged with another of its number, shuffled."""
    words = slots_of(event)
    numbers = {
        slot: getattr(person, "number", None)
        for slot in words
        if slot.endswith("noun")
        for person in [_at(event, slot.split(".")[:-1])]
    }
    (place,) = (slot for slot in numbers if words[slot] == noun)
    others = [s for s, number in numbers.items() if s != place and number is numbers[place]]
    for other in drawer.shuffled(others):
        yield words | {place: words[other], other: noun}


def _at(event: ev.Event, path: list[str]) -> object:
    """Return the participant at a path such as agent, or agent.clause.patient."""
    person = event.argument(ev.Role(path[0]))
    if len(path) == 1:
        return person
    assert isinstance(person, ev.Participant)
    assert isinstance(person.clause, ev.RelativeClause)
    return _at(person.clause.event, path[2:])


_POSITIVE = ev.Event(polarity=ev.Polarity.POSITIVE)
ADVERBS = (0, 1, 2)
"""How many adverbs may stand before a verb in Negation."""


def negation(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb is positive. The mirror negates the other verb instead.

    Both verbs have a form of be as auxiliary: with do-support the words would change with the
    negation ("helps", "does not help").
    """
    (verb,) = probe
    for event in one_negation(drawer, of=verb, admit=_has_be):
        yield (
            drawer.item(event, label=False),
            drawer.item(_exchange_polarity(event), label=True),
        )


def _has_be(event: ev.Event) -> bool:
    return not any(
        clause.aspect is ev.Aspect.SIMPLE and clause.voice is ev.Voice.ACTIVE
        for clause, _ in ev.clauses(event)
    )


def one_negation(
    drawer: Drawer, *, of: str | None = None, admit: Callable[[ev.Event], bool] = lambda _: True
) -> Iterator[ev.Event]:
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


def _by_turns(sources: Sequence[Iterator[ev.Event]]) -> Iterator[ev.Event]:
    """Yield from each source in turn, and on from those that are left when one is spent."""
    for events in zip_longest(*sources):
        yield from (event for event in events if event is not None)


def _exchange_polarity(event: ev.Event) -> ev.Event:
    """Move the negation from the main clause to the relative clause, or back."""
    role, person, clause = next(
        (role, person, person.clause)
        for role in ev.Role
        if isinstance(person := event.argument(role), ev.Participant)
        and isinstance(person.clause, ev.RelativeClause)
    )
    inner = _with_polarity(clause.event, event.polarity)
    filler = replace(person, clause=replace(clause, event=inner))
    return _with_polarity(event, clause.event.polarity).with_argument(role, filler)


def _with_polarity(event: ev.Event, polarity: ev.Polarity | None) -> ev.Event:
    negator = ev.Negator.NOT if polarity is ev.Polarity.NEGATIVE else None
    return replace(event, polarity=polarity, negator=negator)


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
