"""Triplets from the mirror pairs of a task: pairs of test items with the same words and different labels.

Let a and b be the two sentences of a pair. In both, the same clause changes from active to passive or the reverse,
which gives the sentences a' and b'. The triplet has the anchor a, the positive a', and the negatives b' and b. Its
mirror exchanges the two sentences: anchor b, positive b', negatives a' and a.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sentprobe.common.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.meaning import has_same_meaning
from sentprobe.generator.pairs.drafts import MAIN, VOLITIONAL_ADVERBS, format_clause_path, parse_owner_role
from sentprobe.generator.pairs.triplet_files import format_place
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import find_adverb_sites, realize
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.generator.spaces.templates import find_event_pattern
from sentprobe.lexicon import Lexicon
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.similarity import triplet_sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorTriplet:
    """A triplet and its mirror. ``events`` are their two anchors, and ``changed_events`` are their two positives."""

    items: tuple[int, int]
    events: tuple[ev.Event, ev.Event]
    changed_events: tuple[ev.Event, ev.Event]
    probed_path: str
    """The path, such as ``"agent.clause."``, of a clause whose verb is a probe word; else ``""``, the main clause."""
    voice_group: str


class NoMirrorError(UsageError):
    """Raised if no mirror pair of a dataset has a clause that can change its voice."""


def build_mirror_material(
    data: ProbeDataset, lexicon: Lexicon, drawing: triplet_sentences.TripletSampling
) -> triplet_sentences.TripletSentences:
    """Build triplets from mirror pairs. Raises NoMirrorError if no pair has a clause that can change its voice."""
    triplets = find_mirror_triplets(data, lexicon)
    if not triplets:
        raise NoMirrorError(
            f"{data.name}: no test items are mirror pairs (same words, different labels) of "
            "sentences that the grammar can parse and that have a transitive clause"
        )
    sides = zip(*((*triplet.events, *triplet.changed_events) for triplet in triplets), strict=True)
    texts = [[realize(event, lexicon, checked=True).text for event in side] for side in sides]
    return triplet_sentences.TripletSentences(
        data.name,
        replace(drawing, n=len(triplets), distractors=0),
        columns=[texts[i] for i in (0, 2, 3, 1)],  # the texts are a, b, a', b'; the columns a, a', b', b
        units=triplet_sentences.number_units(
            [lemma for slot, lemma in find_slots(triplet.events[0]).items() if slot.endswith(("noun", "verb"))]
            for triplet in triplets
        ),
        groups={
            "structure": [find_event_pattern(triplet.events[0]).name for triplet in triplets],
            "place": [format_place(triplet.probed_path) for triplet in triplets],
            "distance": [
                triplet_sentences.name_distance_bin(
                    triplet_sentences.compute_distance(triplet.events[0], triplet.probed_path, lexicon.language)
                )
                for triplet in triplets
            ],
            "voice": [triplet.voice_group for triplet in triplets],
        },
        dataset=data.fingerprint(),
        items=[triplet.items[side] for side in (0, 1) for triplet in triplets],
    )


def find_mirror_triplets(data: ProbeDataset, lexicon: Lexicon) -> list[MirrorTriplet]:
    """Return a triplet for each usable mirror pair of test items. A usable pair has a clause that can change voice."""
    candidates = (_build_triplet(data, pair, lexicon) for pair in find_mirror_items(data))
    return [triplet for triplet in candidates if triplet is not None]


def find_mirror_items(data: ProbeDataset) -> Iterator[tuple[int, int]]:
    """Yield pairs of test items, as indices, that have the same words and probe words but different labels."""
    items = data.splits[Split.TEST]
    waiting: dict[object, list[int]] = {}
    for i, (row, probe) in enumerate(zip(items.rows.tolist(), items.probes.tolist(), strict=True)):
        key = (*sorted(data.sentences[row].split()), *probe)
        unpaired = waiting.setdefault(key, [])
        first = next((j for j in unpaired if items.targets[j] != items.targets[i]), None)
        if first is None or items.rows[first] == row:  # the same sentence with two labels is no pair
            unpaired.append(i)
        else:
            unpaired.remove(first)
            yield first, i


def _build_triplet(data: ProbeDataset, pair: tuple[int, int], lexicon: Lexicon) -> MirrorTriplet | None:
    items = data.splits[Split.TEST]
    texts = [data.sentences[items.rows[i]] for i in pair]
    words = {data.probe_words[word] for word in items.probes[pair[0]]}
    try:
        (first_event,), (second_event,) = (parse(text, lexicon) for text in texts)
    except (ParseError, ValueError):  # a ValueError means that a sentence is ambiguous
        return None
    all_paths = [*_list_clause_paths(first_event)]
    # The clauses whose verb is a probe word come first, then the main clause: the first that can change is taken.
    paths = sorted(all_paths, key=lambda path: _get_clause(first_event, path).predicate not in words)
    is_parallel = [*_list_clause_paths(second_event)] == all_paths
    if has_same_meaning(first_event, second_event) or not is_parallel:
        return None
    for path in paths:
        if _can_change_voice(first_event, path) and _can_change_voice(second_event, path):
            changed = (change_voice(first_event, path), change_voice(second_event, path))
            first, second = (sorted(realize(event, lexicon, checked=True).text.split()) for event in changed)
            # As the anchors have the same words, positive and negative must, too.
            if first == second and not any(_is_ambiguous(event, lexicon) for event in changed):
                return MirrorTriplet(
                    items=pair,
                    events=(first_event, second_event),
                    changed_events=changed,
                    probed_path=paths[0],
                    voice_group=triplet_sentences.name_voice_group(paths[0], (path,), len(paths) - 1),
                )
    return None


def _is_ambiguous(event: ev.Event, lexicon: Lexicon) -> bool:
    if lexicon.language.closes_clauses:
        return len(parse(realize(event, lexicon, checked=True).text, lexicon)) > 1
    return any(find_adverb_sites(event))


def _list_clause_paths(event: ev.Event) -> Iterator[str]:
    yield MAIN
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            yield format_clause_path(role)


def _get_clause(event: ev.Event, path: str) -> ev.Event:
    return event if path == MAIN else _get_relative_clause(event, path)[1].event


def _get_relative_clause(event: ev.Event, path: str) -> tuple[ev.Participant, ev.RelativeClause]:
    person = event.argument(parse_owner_role(path))
    assert isinstance(person, ev.Participant)
    assert isinstance(person.clause, ev.RelativeClause)
    return person, person.clause


def _can_change_voice(event: ev.Event, path: str) -> bool:
    """Return whether the clause at *path* (such as ``"agent.clause."``) means the same in active and passive voice."""
    clause = _get_clause(event, path)
    return clause.frame is ev.Frame.TRANSITIVE and VOLITIONAL_ADVERBS.isdisjoint(clause.adverbs or ())


def change_voice(event: ev.Event, path: str) -> ev.Event:
    """Return the event with the transitive clause at *path* changed from active to passive or the reverse.

    >>> from sentprobe.lexicon import english
    >>> (event,) = parse("the man that helped the lawyer slept", english())
    >>> realize(change_voice(event, "agent.clause."), english()).text
    'the man that the lawyer was helped by slept'
    """
    clause = _get_clause(event, path)
    voice = ev.Voice.ACTIVE if clause.voice is ev.Voice.PASSIVE else ev.Voice.PASSIVE
    changed = replace(clause, voice=voice, fronting=None)
    if path == MAIN:
        return changed
    person, relative = _get_relative_clause(event, path)
    relative = ev.RelativeClause(event=changed, relativizer=relative.relativizer)
    return event.with_argument(parse_owner_role(path), replace(person, clause=relative))
