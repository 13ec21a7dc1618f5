"""Units: groups of items with the same probe words and balanced labels, each group in one split.

The two items of a *mirror pair* have the same words in another order, and opposite labels, so that no bag of words
distinguishes them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product, zip_longest
from random import Random
from typing import TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.realize import check_event
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.drawn_event import DrawnEvent, find_layout_parts
from sentprobe.lexicon import Kind
from sentprobe.lexicon.languages.language import Language
from sentprobe.probes.compeval.items import MAX_MISSES, Drawer, Probe, Unit, filter_bounded
from sentprobe.probes.compeval.questions import ProbedSentence, Question, does_noun_precede, is_agent

WITHOUT_BE = ev.Event(aspect=ev.Aspect.SIMPLE, voice=ev.Voice.ACTIVE)
UnitMaker: TypeAlias = Callable[[Drawer, Probe], Iterator[Unit]]
"""A function that yields units of the drawer's sub-template about the probe words, in random order."""


def make_content1_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the verb occurs: one sentence with the verb, and one without."""
    (verb,) = probe
    present = drawer.sample_events(words=(verb,))
    absent = drawer.sample_events(forbidden_words=(verb,))
    for positive, negative in zip(present, absent, strict=False):
        yield drawer.build_item(positive, label=True), drawer.build_item(negative, label=False)


def make_content2_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units of four sentences: two with the noun and the verb, one with only the noun, one with only the verb."""
    noun, verb = probe
    both_events = drawer.sample_events(words=(noun, verb))
    noun_only = drawer.sample_events(words=(noun,), forbidden_words=(verb,))
    verb_only = drawer.sample_events(words=(verb,), forbidden_words=(noun,))
    for first, with_noun, with_verb in zip(both_events, noun_only, verb_only, strict=False):
        second = next(both_events, None)
        if second is None:
            return
        yield (
            drawer.build_item(first, label=True),
            drawer.build_item(with_noun, label=False),
            drawer.build_item(second, label=True),
            drawer.build_item(with_verb, label=False),
        )


def make_semrole_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield units that ask whether the noun is the verb's agent; the mirror swaps two nouns of equal number."""
    noun, verb = probe
    agent_event = ev.Event(predicate=verb, agent=ev.Participant(noun=noun))
    events = drawer.sample_events(required=(agent_event,), words=probe)
    return make_mirror_pairs(drawer, probe, is_agent, events, swap_noun)


def make_order_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield mirror pairs that ask whether the noun precedes the verb. The second sentence has two nouns swapped."""
    has_last_verb = drawer.wording.lexicon.language.closes_clauses
    choices = Choices(main=WITHOUT_BE) if has_last_verb else None  # no noun follows a participle
    events = drawer.sample_events(words=probe, choices=choices)
    return make_mirror_pairs(drawer, probe, does_noun_precede, events, swap_noun)


MirrorFinder: TypeAlias = Callable[[Drawer, ProbedSentence, Probe], Iterable[DrawnEvent]]
"""A function that yields candidates for the mirror of a sentence, whatever their labels."""


def make_mirror_pairs(
    drawer: Drawer, probe: Probe, question: Question, events: Iterator[DrawnEvent], find_mirrors: MirrorFinder
) -> Iterator[Unit]:
    """Yield mirror pairs: an event, and the first event from *find_mirrors* with equal words and the opposite label."""

    def make_pair(event: DrawnEvent) -> Unit | None:
        probed = ProbedSentence(event, drawer.wording)
        label = question(probed, probe) is True
        for mirror in find_mirrors(drawer, probed, probe):
            if question(ProbedSentence(mirror, drawer.wording), probe) is not label and have_same_words(
                drawer, event, mirror
            ):
                return drawer.build_item(event, label=label), drawer.build_item(mirror, label=not label)
        return None

    return skip_misses(map(make_pair, events))


def have_same_words(drawer: Drawer, event: DrawnEvent, mirror: DrawnEvent) -> bool:
    """Check whether an event and its mirror have the same words, as they always do in English."""
    if not drawer.wording.lexicon.language.closes_clauses:
        return True
    first, second = (sorted(drawer.wording.render(drawn).split()) for drawn in (event, mirror))
    return first == second


def skip_misses(units: Iterator[Unit | None]) -> Iterator[Unit]:
    """Yield the units that are not None; stop after MAX_MISSES successive Nones."""
    return (unit for unit in filter_bounded(lambda unit: unit is not None, units, MAX_MISSES) if unit is not None)


def swap_noun(drawer: Drawer, probed: ProbedSentence, probe: Probe) -> Iterator[DrawnEvent]:
    """Yield events in which the probed noun has changed places with a noun that has the same number and sort."""
    event, parts = probed.event, find_layout_parts(probed.event.layout)
    lexicon = drawer.wording.lexicon

    def describe_noun(variable: int) -> tuple[str, str]:
        sort = lexicon.get(str(event.get_value(variable)), Kind.NOUN).sort
        return event.get_value(parts.determiners[variable])[0], sort

    variable_ = probed.nouns[probe[0]]
    kind = describe_noun(variable_)
    candidates = [variable for variable in parts.nouns if variable != variable_ and describe_noun(variable) == kind]
    for candidate in drawer.shuffle(candidates):
        yield event.swap_values(variable_, candidate)


def list_adverb_counts(language: Language) -> tuple[int, ...]:
    """Return the allowed numbers of adverbs in a clause: ``(0, 1, 2)``, cut off at the language's maximum."""
    return tuple(range(min(2, language.max_adverbs) + 1))


def make_negation_units(drawer: Drawer, probe: Probe) -> Iterator[Unit]:
    """Yield mirror pairs that ask if a verb is positive. One item negates this verb; the other negates another verb."""
    (verb,) = probe
    needs_be = not drawer.wording.lexicon.language.closes_clauses
    if needs_be and (drawer.part.name or drawer.profile):  # few events may be left, which rejection finds slowly
        drawer = drawer.exclude(WITHOUT_BE)
    events = sample_negations(drawer, verb=verb, accept=_has_be if needs_be else None)
    yield from skip_misses(map(partial(_move_negation, drawer), events))


def _move_negation(drawer: Drawer, event: DrawnEvent) -> Unit | None:
    """Return a mirror pair: the event, and the same with the other verb negated instead; None if that is impossible."""
    main, inner = find_layout_parts(event.layout).clauses
    mirror = event.swap_values(main.negation, inner.negation)
    if drawer.wording.lexicon.language.closes_clauses:
        try:
            check_event(mirror.event, drawer.wording.lexicon)
        except UsageError:
            return None
    if not have_same_words(drawer, event, mirror):
        return None
    return drawer.build_item(event, label=False), drawer.build_item(mirror, label=True)


def _has_be(event: DrawnEvent) -> bool:
    return not any(
        event.get_value(clause.aspect) == ev.Aspect.SIMPLE and clause.find_voice(event) == ev.Voice.ACTIVE
        for clause in find_layout_parts(event.layout).clauses
    )


def sample_negations(
    drawer: Drawer, *, verb: str | None = None, accept: Callable[[DrawnEvent], bool] | None = None
) -> Iterator[DrawnEvent]:
    """Yield events of two clauses, of which one is negated (the clause of *verb*, if set).

    Ambiguous events are yielded only if there is an *accept*, and it accepts them.

    The number of adverbs before each verb is sampled first: otherwise nearly all events would have the maximum number.
    """
    negated = ev.Event(predicate=verb, polarity=ev.Polarity.NEGATIVE)
    positive = ev.Event(polarity=ev.Polarity.POSITIVE)
    features = ((negated, positive), (positive, negated))
    return sample_with_adverbs(drawer, features, accept=accept or bool, choices=Choices(ambiguous=accept is not None))


def sample_with_adverbs(
    drawer: Drawer,
    features: Sequence[tuple[ev.Event, ev.Event]],
    *,
    accept: Callable[[DrawnEvent], bool] = bool,
    choices: Choices = Choices(),  # noqa: B008 - frozen
) -> Iterator[DrawnEvent]:
    """Yield events with a relative clause. All pairs in *features* and all numbers of adverbs are equally frequent."""
    counts = list_adverb_counts(drawer.wording.lexicon.language)
    adverb_counts = drawer.rng.sample(list(product(counts, counts)), len(counts) ** 2)
    all_choices = [
        replace(choices, main=main, clause=clause, adverbs=(n,), clause_adverbs=(m,))
        for turn in range(len(features))
        for i, (n, m) in enumerate(adverb_counts)
        for main, clause in [features[(i + turn) % len(features)]]
    ]
    sources = [filter_bounded(accept, drawer.sample_events(choices=choice)) for choice in all_choices]
    return interleave(sources)


def interleave(sources: Iterable[Iterator[DrawnEvent]]) -> Iterator[DrawnEvent]:
    """Yield the first event of each source, then the second event of each, and so on."""
    return (event for events in zip_longest(*sources) for event in events if event is not None)


def take_units(sources: Sequence[Iterator[Unit]], count: int, used: set[str]) -> list[Unit]:
    """Return up to *count* units in total, one from each source in turn. Their new sentences are added to *used*."""
    units: list[Unit] = []
    while sources and len(units) < count:
        turn = [(source, take_new_unit(source, used)) for source in sources[: count - len(units)]]
        units += [unit for _, unit in turn if unit is not None]
        spent = [source for source, unit in turn if unit is None]
        sources = [source for source in sources if source not in spent]
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
        elif at in productive:
            return units, at
        else:
            del remaining[at]
    return units, None


def take_new_unit(units: Iterator[Unit], used: set[str]) -> Unit | None:
    """Return the next unit whose sentences are distinct and unused; add them to *used*. None after MAX_MISSES units."""
    for unit in islice(units, MAX_MISSES):
        texts = {item.text for item in unit}
        if len(texts) == len(unit) and not texts & used:
            used |= texts
            return unit
    return None
