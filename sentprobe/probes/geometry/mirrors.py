"""The mirror pairs of a task as triplets: its test sentences are the anchors.

In SemRole, Order and Negation the test items are pairs of sentences of the same words that do not
mean the same. Each of the two is an anchor, whose positive is the same sentence with a clause in
the other voice; its negatives are the other one in that form, and as it is. So a probe and the
distances are asked about the same sentences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.generator import event as ev
from sentprobe.generator.drafts import MAIN, OF_THE_WILL, clause_path, owner_of
from sentprobe.generator.meaning import means_the_same
from sentprobe.generator.parse import ParseError, parse
from sentprobe.generator.plan import slots_of
from sentprobe.generator.realize import realize
from sentprobe.generator.templates import ClausePattern, pattern_of
from sentprobe.generator.triplet_files import place_name
from sentprobe.lexicon import Lexicon
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.geometry.material import Drawing, TripletMaterial, binned, distance_in


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorTriplet:
    """A mirror pair: the test items, their events, and the same in the other form."""

    items: tuple[int, int]
    events: tuple[ev.Event, ev.Event]
    others: tuple[ev.Event, ev.Event]
    asked: str
    """The path of the clause of the verb that is asked about."""


class NoMirrorError(UsageError):
    """A dataset has no mirror pairs that can be said in another form."""


def mirror_material(data: ProbeDataset, lexicon: Lexicon, drawing: Drawing) -> TripletMaterial:
    """Return the triplets of the mirror pairs among the test items of a dataset.

    Pairs are left out that the grammar does not read, or of which no clause has another voice in
    which both are of the same words.

    Raises:
        NoMirrorError: there are none.
    """
    found = mirror_triplets(data, lexicon)
    if not found:
        raise NoMirrorError(
            f"{data.name}: no test items are mirror pairs (the same words, another label) of "
            "sentences that the grammar reads and that have a transitive clause"
        )
    columns = [
        [realize(event, lexicon).text for event in side]
        for side in (
            [each.events[0] for each in found],
            [each.others[0] for each in found],
            [each.others[1] for each in found],
            [each.events[1] for each in found],
        )
    ]
    return TripletMaterial(
        data.name,
        replace(drawing, n=len(found), variants=0),
        columns=columns,
        units=_units(found),
        groups={
            "structure": [_structure(each.events[0]) for each in found],
            "place": [place_name(each.asked) for each in found],
            "distance": [binned(distance_in(each.events[0], each.asked)) for each in found],
        },
        dataset=data.fingerprint(),
        items=[each.items[side] for side in (0, 1) for each in found],
    )


def mirror_triplets(data: ProbeDataset, lexicon: Lexicon) -> list[MirrorTriplet]:
    """Return the mirror pairs among the test items that can be said in another form."""
    made = (_triplet(data, pair, lexicon) for pair in mirror_items(data))
    return [each for each in made if each is not None]


def mirror_items(data: ProbeDataset) -> Iterator[tuple[int, int]]:
    """Yield the test items that mirror each other: the same words and probe, another label."""
    items = data.splits[Split.TEST]
    waiting: dict[object, list[int]] = {}
    for at, (row, probe) in enumerate(zip(items.rows.tolist(), items.probes.tolist(), strict=True)):
        key = (*sorted(data.sentences[row].split()), *probe)
        others = waiting.setdefault(key, [])
        first = next((o for o in others if items.targets[o] != items.targets[at]), None)
        if first is None or items.rows[first] == row:
            others.append(at)
        else:
            others.remove(first)
            yield first, at


def _triplet(data: ProbeDataset, pair: tuple[int, int], lexicon: Lexicon) -> MirrorTriplet | None:
    items = data.splits[Split.TEST]
    texts = [data.sentences[items.rows[at]] for at in pair]
    words = {data.probe_words[word] for word in items.probes[pair[0]]}
    try:
        (one,), (other,) = (parse(text, lexicon) for text in texts)
    except (ParseError, ValueError):  # more than one reading, too
        return None
    paths = sorted(_paths(one), key=lambda path: _clause_at(one, path).predicate not in words)
    if means_the_same(one, other) or not paths or [*_paths(other)] != [*_paths(one)]:
        return None
    for path in paths:
        if _can_turn(one, path) and _can_turn(other, path):
            turned = (in_other_voice(one, path), in_other_voice(other, path))
            first, second = (sorted(realize(each, lexicon).text.split()) for each in turned)
            if first == second:
                return MirrorTriplet(items=pair, events=(one, other), others=turned, asked=paths[0])
    return None


def _paths(event: ev.Event) -> Iterator[str]:
    """Yield the paths of the clauses of an event, the main one first."""
    yield MAIN
    for role, person in ev.participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            yield clause_path(role)


def _clause_at(event: ev.Event, path: str) -> ev.Event:
    return event if path == MAIN else _relative_at(event, path)[1].event


def _relative_at(event: ev.Event, path: str) -> tuple[ev.Participant, ev.RelativeClause]:
    person = event.argument(owner_of(path))
    assert isinstance(person, ev.Participant)
    assert isinstance(person.clause, ev.RelativeClause)
    return person, person.clause


def _can_turn(event: ev.Event, path: str) -> bool:
    """Say whether a clause means the same in the other voice."""
    clause = _clause_at(event, path)
    return clause.frame is ev.Frame.TRANSITIVE and OF_THE_WILL.isdisjoint(clause.adverbs or ())


def in_other_voice(event: ev.Event, path: str) -> ev.Event:
    """Return an event with its transitive clause at a path in the other voice.

    >>> from sentprobe.lexicon import english
    >>> (event,) = parse("the man that helped the lawyer slept", english())
    >>> realize(in_other_voice(event, "agent.clause."), english()).text
    'the man that the lawyer was helped by slept'
    """
    clause = _clause_at(event, path)
    passive = clause.voice is ev.Voice.PASSIVE
    turned = replace(clause, voice=ev.Voice.ACTIVE if passive else ev.Voice.PASSIVE)
    if path == MAIN:
        return turned
    person, relative = _relative_at(event, path)
    relative = ev.RelativeClause(event=turned, relativizer=relative.relativizer)
    return event.with_argument(owner_of(path), replace(person, clause=relative))


def _structure(event: ev.Event) -> str:
    """Return the name of the sub-template."""
    clauses = []
    for role, person in ev.participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            inner, kind = person.clause.event, person.clause.kind
            assert inner.frame
            assert inner.gap
            assert inner.voice
            assert kind
            clauses.append((role, ClausePattern(inner.frame, kind, inner.gap, inner.voice)))
    assert event.frame
    return pattern_of(event.frame, tuple(clauses)).name


def _units(found: Sequence[MirrorTriplet]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return a number for each: those of the same nouns and verbs have the same."""
    numbers: dict[tuple[str, ...], int] = {}
    keys = (
        tuple(sorted(w for s, w in slots_of(e.events[0]).items() if s.endswith(("noun", "verb"))))
        for e in found
    )
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
