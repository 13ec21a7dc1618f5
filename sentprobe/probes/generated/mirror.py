"""Units of the suite compeval, and its questions: groups of items with balanced labels, each group in one split.

A unit of a task with probe words has two sentences, and asks the same two questions about both, with opposite answers
about each sentence and about each question. So whatever looks at the sentence alone, or at the probe words alone, is
right on exactly half of the items. The sentences of a *mirror pair* also have the same words in another order, so that
a bag of words is right on exactly half of the items, too.

A question about a sentence has the answer None if it does not apply.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import permutations, product
from typing import TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import Polarity, Role
from sentprobe.generator.sentences.realize import check_event
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.drawn_event import ClauseParts, DrawnEvent, find_layout_parts
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.lexicon import Kind
from sentprobe.lexicon.languages.language import Language
from sentprobe.probes.generated.items import MAX_MISSES, Drawer, Probe, Questions, Unit, filter_bounded, rank_uses


class ProbedSentence:
    """A sampled event with its text, nouns and verbs, which are computed when needed."""

    def __init__(self, event: DrawnEvent, wording: DrawnTextRenderer) -> None:
        self.event = event
        self._wording = wording

    @cached_property
    def text(self) -> str:
        """The text of the sentence."""
        return self._wording.render(self.event)

    @cached_property
    def nouns(self) -> dict[object, int]:
        """The index of each noun's variable in the layout, by lemma."""
        return {self.event.get_value(at): at for at in find_layout_parts(self.event.layout).nouns}

    @cached_property
    def verbs(self) -> dict[object, ClauseParts]:
        """The clause of each verb, by lemma."""
        clauses = find_layout_parts(self.event.layout).clauses
        return {self.event.get_value(clause.verb): clause for clause in clauses}

    def precedes(self, noun: str, verb: str) -> bool:
        """Check whether the noun precedes the verb; both must occur in the sentence."""
        positions = self._wording.find_word_positions(self.event)
        return positions[self.nouns[noun]] < positions[self.verbs[verb].verb]


Question: TypeAlias = Callable[[ProbedSentence, Probe], int | None]
"""A function from sentence and probe words to the answer: a truth value, the index of a label, or None."""


def does_verb_occur(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return probe[0] in sentence.verbs


def do_both_occur(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether both noun and verb occur (Content2Probe); None if neither the noun nor the verb occurs."""
    has_noun, has_verb = probe[0] in sentence.nouns, probe[1] in sentence.verbs
    return has_noun and has_verb if has_noun or has_verb else None


def does_noun_precede(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return sentence.precedes(*probe) if do_both_occur(sentence, probe) else None


def is_agent(sentence: ProbedSentence, probe: Probe) -> bool | None:
    return has_role(sentence, probe, Role.AGENT)


def has_role(sentence: ProbedSentence, probe: Probe, role: Role) -> bool | None:
    """Answer whether the noun in *probe* has *role* in the clause of *probe*'s verb; None unless both words occur."""
    if not do_both_occur(sentence, probe):
        return None
    noun, verb = probe
    return sentence.nouns[noun] in sentence.verbs[verb].roles.get(role, ())


def is_positive(sentence: ProbedSentence, probe: Probe) -> bool | None:
    """Answer whether the probe word, a verb, is not negated (Negation); None if the sentence lacks the verb."""
    clause = sentence.verbs.get(probe[0])
    return None if clause is None else sentence.event.get_value(clause.negation) == Polarity.POSITIVE


WITHOUT_BE = ev.Event(aspect=ev.Aspect.SIMPLE, voice=ev.Voice.ACTIVE)
UnitMaker: TypeAlias = Callable[[Drawer, Questions], Iterator[Unit]]
"""A function that yields units of the drawer's sub-template that ask these questions, in random order."""


def make_content1_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units of two sentences: each has one of the two verbs and lacks the other."""
    (first,), (second,) = questions
    yield from _make_content_units(drawer, questions, ((first,), (second,)))


def make_content2_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units of two sentences. The questions share a noun or a verb, which both sentences have."""
    (shared,) = {*questions[0]} & {*questions[1]}
    others = [word for question in questions for word in question if word != shared]
    yield from _make_content_units(drawer, questions, tuple((other,) for other in others), words=(shared,))


def _make_content_units(
    drawer: Drawer, questions: Questions, others: tuple[tuple[str], ...], *, words: tuple[str, ...] = ()
) -> Iterator[Unit]:
    first, second = others
    firsts = drawer.sample_events(words=(*words, *first), forbidden_words=second)
    seconds = drawer.sample_events(words=(*words, *second), forbidden_words=first)
    for pair in zip(firsts, seconds, strict=False):
        yield build_unit(drawer, questions, pair, label=True)


def build_unit(drawer: Drawer, questions: Questions, sentences: Sequence[DrawnEvent], *, label: bool) -> Unit:
    """Return a unit of two sentences; *label* answers the first question about the first, and all else is crossed."""
    first, second = (drawer.build_item(event, label=label) for event in sentences)
    return tuple(
        (question, replace(item, label=label ^ bool(number) ^ (item is second)))
        for item in (first, second)
        for number, question in enumerate(questions)
    )


def make_semrole_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield units that ask which of two nouns is the verb's agent; the mirror swaps these nouns, of equal number."""
    noun, verb = questions[0]
    agent_event = ev.Event(predicate=verb, agent=ev.Participant(noun=noun))
    events = drawer.sample_events(required=(agent_event,), words=list_words(questions))
    return make_mirror_pairs(drawer, questions, is_agent, events, swap_nouns)


def make_order_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield mirror pairs that ask whether a noun precedes a verb.

    If the questions share the verb, their nouns change places, which stand on both sides of it. If they share the
    noun, their verbs do.
    """
    language = drawer.wording.lexicon.language
    choices = Choices(main=WITHOUT_BE) if language.closes_clauses else None  # no noun follows a participle
    events = drawer.sample_events(words=list_words(questions), choices=choices)
    swap = swap_nouns if questions[0][1] == questions[1][1] else swap_verbs

    def make_unit(event: DrawnEvent) -> Unit | None:
        # With cases, a noun in another place has other forms, so that words stay where they were drawn.
        arranged = [event] if len(language.cases) > 1 else _arrange_words(drawer, event, questions)
        return next(make_mirror_pairs(drawer, questions, does_noun_precede, iter(arranged), swap), None)

    return skip_misses(map(make_unit, events))


def _arrange_words(drawer: Drawer, event: DrawnEvent, questions: Questions) -> list[DrawnEvent]:
    """Return *event* with its nouns and verbs in other places; first those whose mirrors differ in rarely used places.

    If one word alone stood at the place of a difference, an encoder that sees only this place could answer.
    """
    probed = ProbedSentence(event, drawer.wording)
    positions = drawer.wording.find_word_positions(event)
    length = len(probed.text.split())
    parts = find_layout_parts(event.layout)
    (first_noun, first_verb), (second_noun, second_verb) = questions
    arranged: list[tuple[list[int], DrawnEvent]] = []

    def add(moves: Iterable[tuple[int, int]], changed: tuple[int, int]) -> None:
        # Counted from both ends: an encoder may see the n-th word from the start or from the end.
        places = [place for at in changed for place in (positions[at], positions[at] - length)]
        arranged.append((rank_uses(drawer.uses, places), _move_values(event, moves)))

    verbs = {word: probed.verbs[word] for word in (first_verb, second_verb)}
    slots = {word: [c.verb for c in parts.clauses if c.site.frame == verbs[word].site.frame] for word in verbs}
    if first_verb == second_verb:
        for verb_slot, (left, right) in product(slots[first_verb], permutations(parts.nouns, 2)):
            if positions[left] < positions[verb_slot] < positions[right]:
                moves = [(verbs[first_verb].verb, verb_slot), (probed.nouns[first_noun], left)]
                add([*moves, (probed.nouns[second_noun], right)], (left, right))
    else:
        for (left, right), noun_slot in product(permutations(slots[first_verb], 2), parts.nouns):
            if positions[left] < positions[noun_slot] < positions[right]:
                moves = [(verbs[first_verb].verb, left), (probed.nouns[first_noun], noun_slot)]
                add([*moves, (verbs[second_verb].verb, right)], (left, right))
    return [event for _, event in sorted(drawer.shuffle(arranged), key=lambda entry: entry[0])]


def _move_values(event: DrawnEvent, moves: Iterable[tuple[int, int]]) -> DrawnEvent:
    """Move the value of each first variable to the second, whose value takes its place."""
    where = {variable: variable for move in moves for variable in move}
    for source, target in moves:
        current = where[source]
        event = event.swap_values(current, target)
        exchanged = {current: target, target: current}
        where = {variable: exchanged.get(at, at) for variable, at in where.items()}
    return event


def list_words(questions: Questions) -> tuple[str, ...]:
    """Return the words of the questions, each once."""
    return tuple(dict.fromkeys(word for question in questions for word in question))


MirrorFinder: TypeAlias = Callable[[Drawer, ProbedSentence, Questions], Iterable[DrawnEvent]]
"""A function that yields candidates for the mirror of a sentence, whatever their labels."""


def make_mirror_pairs(
    drawer: Drawer, questions: Questions, question: Question, events: Iterator[DrawnEvent], find_mirrors: MirrorFinder
) -> Iterator[Unit]:
    """Yield mirror pairs: an event, and the first event from *find_mirrors* with equal words and the opposite labels.

    Events with equal answers to two questions are skipped.
    """

    def answer(sentence: ProbedSentence) -> list[int | None]:
        return [question(sentence, probe) for probe in questions]

    def make_pair(event: DrawnEvent) -> Unit | None:
        probed = ProbedSentence(event, drawer.wording)
        label = bool(question(probed, questions[0]))
        # A task without probe words asks one question only.
        crossed = [label, not label]
        if answer(probed) != crossed[: len(questions)]:
            return None
        for mirror in find_mirrors(drawer, probed, questions):
            sentence = ProbedSentence(mirror, drawer.wording)
            has_opposite_labels = answer(sentence) == [not label, label][: len(questions)]
            if has_opposite_labels and sorted(probed.text.split()) == sorted(sentence.text.split()):
                return build_unit(drawer, questions, (event, mirror), label=label)
        return None

    return skip_misses(map(make_pair, events))


def skip_misses(units: Iterator[Unit | None]) -> Iterator[Unit]:
    """Yield the units that are not None; stop after MAX_MISSES successive Nones."""
    return (unit for unit in filter_bounded(lambda unit: unit is not None, units, MAX_MISSES) if unit is not None)


def swap_nouns(drawer: Drawer, probed: ProbedSentence, questions: Questions) -> Iterator[DrawnEvent]:
    """Yield the event in which the nouns of the questions have changed places, if their numbers and sorts are equal."""
    event, parts = probed.event, find_layout_parts(probed.event.layout)
    lexicon = drawer.wording.lexicon
    first, second = (probed.nouns[noun] for noun, _ in questions)
    numbers = {event.get_value(parts.determiners[variable])[0] for variable in (first, second)}
    # Number stays at its place, so nouns of other numbers would change their forms. Verbs accept certain sorts only.
    sorts = {lexicon.get(noun, Kind.NOUN).sort for noun, _ in questions}
    if len(numbers) == len(sorts) == 1:
        yield event.swap_values(first, second)


def swap_verbs(_: Drawer, probed: ProbedSentence, questions: Questions) -> Iterator[DrawnEvent]:
    """Yield the event in which the verbs of the questions have changed places, if their clauses have the same frame."""
    first, second = (probed.verbs[verb] for _, verb in questions)
    if first.site.frame == second.site.frame:
        yield probed.event.swap_values(first.verb, second.verb)


def list_adverb_counts(language: Language) -> tuple[int, ...]:
    return tuple(range(min(2, language.max_adverbs) + 1))


def make_negation_units(drawer: Drawer, questions: Questions) -> Iterator[Unit]:
    """Yield mirror pairs that ask which of two verbs is positive: in each sentence, the other one is negated."""
    # In English, "did not" would replace "slept" by "sleep", and the mirror would have other words; forms of be stay.
    # German has no "do".
    needs_be = not drawer.wording.lexicon.language.closes_clauses
    if needs_be and (drawer.part.name or drawer.profile):  # few events may be left, which rejection finds slowly
        drawer = drawer.exclude(WITHOUT_BE)
    events = sample_negations(drawer, questions, accept=_has_be if needs_be else None)
    return make_mirror_pairs(drawer, questions, is_positive, events, _move_negation)


def _move_negation(drawer: Drawer, probed: ProbedSentence, _: Questions) -> Iterator[DrawnEvent]:
    main, inner = find_layout_parts(probed.event.layout).clauses
    mirror = probed.event.swap_values(main.negation, inner.negation)
    if drawer.wording.lexicon.language.closes_clauses:
        try:
            check_event(mirror.event, drawer.wording.lexicon)
        except UsageError:
            return
    yield mirror


def _has_be(event: DrawnEvent) -> bool:
    return not any(
        event.get_value(clause.aspect) == ev.Aspect.SIMPLE and clause.find_voice(event) == ev.Voice.ACTIVE
        for clause in find_layout_parts(event.layout).clauses
    )


def sample_negations(
    drawer: Drawer,
    questions: Sequence[tuple[str | None, ...]] = ((None,), (None,)),
    *,
    accept: Callable[[DrawnEvent], bool] | None = None,
) -> Iterator[DrawnEvent]:
    """Yield events of two clauses with the verbs of the questions (None: any verb), of which the first is negated.

    Ambiguous events are yielded only if there is an *accept*, and it accepts them.

    The number of adverbs before each verb is sampled first: otherwise nearly all events would have the maximum number.
    """
    negated, positive = (
        ev.Event(predicate=verb, polarity=polarity)
        for (verb,), polarity in zip(questions, (ev.Polarity.NEGATIVE, ev.Polarity.POSITIVE), strict=True)
    )
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
    features = [pair for pair in features if _have_frames_of(drawer, pair)]  # other spaces would be empty
    counts = list_adverb_counts(drawer.wording.lexicon.language)
    adverb_counts = drawer.shuffle(list(product(counts, counts)))
    adverb_counts.sort(key=lambda numbers: drawer.uses[numbers])
    # In each turn, each number of adverbs comes once, and the features alternate: a few events balance both.
    all_choices = [
        replace(choices, main=main, clause=clause, adverbs=(n,), clause_adverbs=(m,))
        for turn in range(len(features))
        for i, (n, m) in enumerate(adverb_counts)
        for main, clause in [features[(i + turn) % len(features)]]
    ]
    sources = [filter_bounded(accept, drawer.sample_events(choices=choice)) for choice in all_choices]
    return interleave(sources)


def _have_frames_of(drawer: Drawer, events: Iterable[ev.Event]) -> bool:
    """Return whether the verbs of *events*, if any, have the frames of the sub-template's clauses."""
    pattern, *_ = find_patterns([drawer.template])  # the others differ in gaps and voices
    frames = [pattern.frame, *(clause.frame for _, clause in pattern.clauses)]
    return all(
        event.predicate is None or Kind(frame.value) in drawer.wording.lexicon.kinds_of(event.predicate)
        for event, frame in zip(events, frames, strict=False)  # a simple sentence has one clause
    )


def interleave(sources: Iterable[Iterator[DrawnEvent]]) -> Iterator[DrawnEvent]:
    """Yield the first event of each source, then the second event of each, and so on. No event is drawn in advance."""
    queue = deque(sources)
    while queue:
        source = queue.popleft()
        if (event := next(source, None)) is not None:
            yield event
            queue.append(source)
