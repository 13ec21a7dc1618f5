"""Sampling of the items of compeval tasks: as balanced mirror pairs, or as in the paper."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from random import Random

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import find_memory_size
from sentprobe.common.specs import Sampling
from sentprobe.generator.bulk.drawn_texts import get_text_renderer
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.profile import Profile
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.probes.datasets.dataset import Split, TooFewError
from sentprobe.probes.generated import held_out_pairs
from sentprobe.probes.generated.held_out_pairs import Structure, get_trained_part, list_test_parts
from sentprobe.probes.generated.items import (
    ALL_SENTENCES,
    MAX_REJECTED,
    Drawer,
    Part,
    Probe,
    ProbedItem,
    Questions,
    Unit,
    UnitItem,
    take_spread_units,
    take_units,
    take_weighted_units,
)
from sentprobe.probes.generated.mirror import ProbedSentence, list_adverb_counts, list_words
from sentprobe.probes.generated.tasks import CompevalTask, HeldOutKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWords:
    """The lexicon and the probe words of each split.

    *classes* maps a probe word to its class: only words of a class may be exchanged for each other in a pair.
    """

    lexicons: Mapping[Split, Lexicon]
    probes: held_out_pairs.ProbesBySplit
    classes: Mapping[str, object]

    @property
    def shares_test_pairs(self) -> bool:
        """Whether a test unit has a question of training: each verb holds out one noun only."""
        return len({verb for _, verb in self.probes[Split.TEST]}) == len(self.probes[Split.TEST])


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRequest:
    """The number of items of each split, and the settings for sampling. The order of *counts* is the sampling order."""

    vocabulary: str
    counts: Mapping[Split, int]
    rng: Random
    structure: Structure | None = None
    profile: Profile | None = None

    def list_parts(self, split: Split) -> tuple[Part, ...]:
        return list_test_parts(self.structure) if split is Split.TEST else (get_trained_part(self.structure),)


def choose_split_words(
    task: CompevalTask, lexicon: Lexicon, vocabulary: str, *, splits: Sequence[Split], sampling: Sampling, rng: Random
) -> SplitWords:
    """Choose the lexicon and probe words of each split; training lacks the pairs or adverbs that the task holds out."""
    words = held_out_pairs.select_usable_words(lexicon, vocabulary)
    validation = Split.VALIDATION in splits
    probes = held_out_pairs.select_probes(words, task.probed_kinds, rng=rng)
    classes: dict[str, object] = {}
    if task.has_noun:
        # With cases, nouns of different genders cannot change places: their articles differ.
        has_cases = len(lexicon.language.cases) > 1
        classes = {noun: has_cases and lexicon.get(noun, Kind.NOUN).gender for noun in words[Kind.NOUN]}
        probes = held_out_pairs.build_pairs(
            words,
            task.probed_kinds,
            rng=rng,
            task=task.name,
            validation=validation,
            find_class=lambda noun: str(classes[noun]),
            share=1 if sampling is Sampling.PAPER else None,
        )
        classes |= {verb: kind for kind in task.probed_kinds for verb in words[kind]}
    lexicons: Mapping[Split, Lexicon] = dict.fromkeys(Split, lexicon)
    if task.held_out is HeldOutKind.ADVERBS:
        lexicons = held_out_pairs.split_adverbs(lexicon, vocabulary, rng=rng, task=task.name, validation=validation)
    return SplitWords(lexicons=lexicons, probes=probes, classes=classes)


LARGE_REQUEST = 100_000
"""For at least this number of items in a split, the available sentences are counted before sampling."""
ITEM_BYTES = 800
"""Memory in bytes for an item, measured with 10,000 to 40,000 items."""


def check_sentence_count(task: CompevalTask, words: SplitWords, request: DrawRequest, sampling: Sampling) -> None:
    """Raise TooManyItemsError if vocabulary or memory is too small for a split. Splits under LARGE_REQUEST pass."""
    for split, count in request.counts.items():
        if count < LARGE_REQUEST:
            continue
        probes = words.probes[split]
        drawer = replace(_make_drawer(words, request, split, frozenset()), part=ALL_SENTENCES)
        sentences = _count_sentences(task, drawer, [()])
        probed_sentences = _count_sentences(task, drawer, probes)
        # Each sentence of a unit has the words of at least one of its questions.
        most = (2 if task.crossed else 1) * min(sentences, probed_sentences)
        if sampling is Sampling.PAPER:
            most = len(probes) * probed_sentences
        request_text = f"{task.name}: {count:,} {split.value} items are asked for"
        if count > most:
            raise TooManyItemsError(
                f"{request_text}, and vocabulary {request.vocabulary!r} has only {min(sentences, probed_sentences):,} "
                "sentences with their probe words; ask for fewer items or use a larger vocabulary"
            )
        memory = find_memory_size()
        if memory and count * ITEM_BYTES > memory:
            raise TooManyItemsError(
                f"{request_text}, which need {count * ITEM_BYTES / 1e9:,.0f} GB of memory; this machine has "
                f"{memory / 1e9:,.0f} GB: ask for fewer items"
            )


def _count_sentences(task: CompevalTask, drawer: Drawer, probes: Sequence[Probe]) -> int:
    """Count, for each tuple of probe words, the task's sentences with all these words; return the sum of the counts."""
    counts = list_adverb_counts(drawer.wording.lexicon.language)
    choices = Choices(adverbs=counts if task.held_out is HeldOutKind.ADVERBS else (0,))
    drawers = [replace(drawer, template=name) for name in task.templates]
    spaces = [drawer.make_space(words=probe, choices=choices) for drawer in drawers for probe in probes]
    return sum(space.count() for space in spaces if space is not None)


class TooManyItemsError(TooFewError, UsageError):
    """The requested items exceed the number of possible sentences, or the memory of this machine."""


def _sample_mirrored(task: CompevalTask, words: SplitWords, request: DrawRequest) -> dict[Split, list[ProbedItem]]:
    """Sample the items of each split as units. Each question is asked about equally often."""
    counts = {split: ceil(count / task.unit) for split, count in request.counts.items()}
    held_out = {*words.probes[Split.TEST], *words.probes[Split.VALIDATION]} - {*words.probes[Split.TRAIN]}
    # The nouns and verbs of these pairs stand in training, but never in one sentence.
    separated = frozenset(held_out if task.has_noun else ())
    drawers = {split: _make_drawer(words, request, split, separated) for split in counts}
    questions: Mapping[Split, QuestionsBySlot]
    questions = {split: _list_questions(task, words, split, count) for split, count in counts.items()}
    questions = _restrict_to_trained_words(task, questions)
    has_few_nouns = task.has_noun and len({noun for noun, _ in words.probes[Split.TRAIN]}) < FEW_NOUNS
    if has_few_nouns or counts[Split.TRAIN] < FEW_UNITS or drawers[Split.TRAIN].may_lack_units:
        questions = _restrict_to_usable_questions(task, drawers[Split.TRAIN], questions)
    used: set[str] = set()
    items: dict[Split, list[ProbedItem]] = {}
    for split, count in request.counts.items():
        parts = request.list_parts(split)
        part_drawers = [replace(drawers[split], part=part) for part in parts]
        units = [u for d in part_drawers for u in _sample_units(task, d, questions[split], count // len(parts), used)]
        request.rng.shuffle(units)
        items[split] = [item for unit in units for item in unit]
    asked = {split: [probe for probe, _ in split_items] for split, split_items in items.items()}
    held_out_pairs.check_probe_words_trained(asked, task=task.name)
    return items


FEW_NOUNS = 6
"""With fewer nouns, training may have no sentence of some probe words, since it lacks the held-out pairs."""
FEW_UNITS = 100
"""With fewer units of training, a probe word may be in one question only, which may have no sentence."""
QuestionsBySlot = Mapping[int, Sequence[Questions]]
"""The questions of units, by the slot in which the two questions of a unit differ."""
_MIN_SPREAD = 8
"""Units about the same questions, at least, if they are chosen by their places: each waits beside several others."""


def _list_questions(task: CompevalTask, words: SplitWords, split: Split, count: int) -> QuestionsBySlot:
    """Return the questions of *count* units of training, or all questions of another split."""
    if not task.crossed:
        return {0: [((),)]}
    probes = words.probes[split]
    partners = words.probes[Split.TRAIN]
    by_slot = held_out_pairs.cross_questions(probes, task.crossed, words.classes, partners=partners)
    if split is not Split.TRAIN:
        return by_slot
    # No more than there will be units, so that each of these words is asked about.
    shares = [
        _share_units(task, count, number) - _share_units(task, count, number - 1) for number in range(len(by_slot))
    ]
    if task.is_spread:
        shares = [max(ceil(share / _MIN_SPREAD), min(share, len(probes))) for share in shares]
    return {slot: pairs[:share] for (slot, pairs), share in zip(by_slot.items(), shares, strict=True)}


def _share_units(task: CompevalTask, count: int, number: int) -> int:
    """Return how many of *count* units the slots up to this number have together: each slot an equal share."""
    return count * (number + 1) // max(1, len(task.crossed))


def _restrict_to_trained_words(
    task: CompevalTask, questions: Mapping[Split, QuestionsBySlot]
) -> Mapping[Split, QuestionsBySlot]:
    """Return *questions* without those of validation and test that have a word about which training does not ask."""
    trained = {word for pairs in questions[Split.TRAIN].values() for pair in pairs for word in list_words(pair)}
    restricted = {
        split: {slot: [p for p in pairs if trained.issuperset(list_words(p))] for slot, pairs in by_slot.items()}
        for split, by_slot in questions.items()
    }
    for split, by_slot in restricted.items():
        if not any(by_slot.values()):
            raise held_out_pairs.TooFewItemsError(
                f"{task.name}: too few training items for every probe word of the {split.value} items to be in "
                "training; ask for more of them"
            )
    return restricted


def _make_drawer(words: SplitWords, request: DrawRequest, split: Split, separated: frozenset[Probe]) -> Drawer:
    return Drawer(
        wording=get_text_renderer(words.lexicons[split]),
        vocabulary=request.vocabulary,
        template="",
        rng=request.rng,
        separated_pairs=separated if split is Split.TRAIN else frozenset(),
        part=get_trained_part(request.structure),
        profile=request.profile,
    )


def _restrict_to_usable_probes(
    task: CompevalTask, drawer: Drawer, probes: held_out_pairs.ProbesBySplit
) -> held_out_pairs.ProbesBySplit:
    """Return *probes* without those of words that no training sentence of the task can have (Sampling.PAPER)."""
    if not drawer.may_lack_units:
        return probes
    by_slot = held_out_pairs.cross_questions(probes[Split.TRAIN], task.crossed, {})
    trained = _restrict_to_usable_questions(task, drawer, {Split.TRAIN: by_slot})[Split.TRAIN]
    words = {word for pairs in trained.values() for pair in pairs for word in list_words(pair)}
    return {s: tuple(p for p in split_probes if words.issuperset(p)) for s, split_probes in probes.items()}


def _restrict_to_usable_questions(
    task: CompevalTask, drawer: Drawer, questions: Mapping[Split, QuestionsBySlot]
) -> Mapping[Split, QuestionsBySlot]:
    """Return *questions* without those about words that training cannot ask about.

    Training questions remain if *drawer* can draw a unit of them; others remain if training asks about their words.
    Raises NoStructureError if no training question remains.
    """
    trained = {
        slot: [
            pair
            for pair in pairs
            if any(next(task.make_units(d, pair), None) for d in drawer.list_template_drawers(task.templates))
        ]
        for slot, pairs in questions[Split.TRAIN].items()
    }
    if not any(trained.values()):
        reason = "has a held-out pair"
        if drawer.part.name or drawer.profile:
            reason = "has the held-out structure" if drawer.part.name else "has weight 0 in the profile"
        raise NoStructureError(
            f"{task.name}: every sentence of its questions {reason}, so that no training sentence is left"
        )
    return _restrict_to_trained_words(task, {**questions, Split.TRAIN: trained})


def _sample_units(
    task: CompevalTask, drawer: Drawer, questions: QuestionsBySlot, item_count: int, used: set[str]
) -> list[Unit]:
    """Return units with *item_count* items in total, spread evenly over slots and questions.

    The last unit may be incomplete. If some questions have too few units, others get more.
    """
    count = ceil(item_count / task.unit)
    units: list[Unit] = []
    drawer = replace(drawer, uses=Counter())
    for number, pairs in enumerate([*questions.values(), *questions.values()]):
        # In the second round, slots with more units make up for those that lack some.
        target = _share_units(task, count, number) if number < len(questions) else count
        remaining = list(pairs)
        if task.is_spread:  # intransitive verbs first: they stand in few places, which the other questions can avoid
            intransitive = {*drawer.wording.lexicon.vocabulary(drawer.vocabulary).words[Kind.INTRANSITIVE]}
            remaining.sort(key=lambda pair: intransitive.isdisjoint(list_words(pair)))
        while remaining and len(units) < target:
            share, extra = divmod(target - len(units), len(remaining))
            sizes = {pair: share + (i < extra) for i, pair in enumerate(remaining)}
            sampled = {pair: _take_units(task, drawer, pair, n, used) for pair, n in sizes.items() if n}
            units += [unit for pair_units in sampled.values() for unit in pair_units]
            remaining = [pair for pair in remaining if len(sampled.get(pair, ())) == sizes[pair]]
    if not units and drawer.part.having:
        raise NoStructureError(
            f"{task.name}: no sentence of its questions has the structure "
            f"({drawer.part.name}), so that no test item is left"
        )
    if len(units) < count:
        raise _too_few_error(task, drawer, len(units) * task.unit, item_count)
    last = units[-1]
    return [*units[:-1], last[: len(last) - count * task.unit + item_count]]


class NoStructureError(TooFewError, UsageError):
    """A structure cannot be held out of a task, because all or none of the task's sentences have it."""


def _take_units(task: CompevalTask, drawer: Drawer, questions: Questions, count: int, used: set[str]) -> list[Unit]:
    drawers = drawer.list_template_drawers(task.templates)
    drawers.sort(key=lambda template_drawer: drawer.uses[template_drawer.template])
    sources = {d.template: task.make_units(d, questions) for d in drawers}
    if drawer.profile is None:
        take = take_spread_units if task.is_spread else take_units
        return take(sources, count, used, drawer.uses)
    units, spent = take_weighted_units([*sources.values()], [d.weight for d in drawers], count, used, drawer.rng)
    if spent is not None and not drawer.part.name:
        raise TooFewError(
            f"{task.name}: the profile asks for more sentences of {drawers[spent].template} with "
            f"{' and '.join(list_words(questions))} than vocabulary {drawer.vocabulary!r} has; ask for fewer items or "
            "use a larger vocabulary"
        )
    return units


def _sample_as_in_the_paper(
    task: CompevalTask, words: SplitWords, request: DrawRequest
) -> dict[Split, list[ProbedItem]]:
    probed = [probe for probes in words.probes.values() for probe in probes]
    used: set[str] = set()
    items: dict[Split, list[ProbedItem]] = {}
    train_drawer = _make_drawer(words, request, Split.TRAIN, frozenset())
    probes = _restrict_to_usable_probes(task, train_drawer, words.probes)
    for split, count in request.counts.items():
        lexicon = held_out_pairs.restrict_to_probed_words(words.lexicons[split], request.vocabulary, probed)
        drawer = replace(_make_drawer(words, request, split, frozenset()), wording=get_text_renderer(lexicon))
        items[split] = []
        parts = request.list_parts(split)
        part_count = count // len(parts)
        for part in parts:
            part_drawer = replace(drawer, part=part)
            sampled = _sample_paper_items(task, part_drawer, probes[split], part_count, used)
            if len(sampled) < part_count:
                raise _too_few_error(task, part_drawer, len(sampled), part_count)
            items[split] += sampled
        request.rng.shuffle(items[split])
    probes_by_split = {split: [probe for probe, _ in questions] for split, questions in items.items()}
    held_out_pairs.check_probe_words_trained(probes_by_split, task=task.name)
    return items


def _sample_paper_items(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], count: int, used: set[str]
) -> list[ProbedItem]:
    """Return up to *count* items about the probe words *probes*, TRUE and FALSE in turn; add sentences to *used*."""
    drawers = drawer.list_template_drawers(task.templates)
    sources = [(template.weight, _sample_questions(task, template, probes, used)) for template in drawers]
    questions: list[ProbedItem] = []
    while sources and len(questions) < count:
        weights = [weight for weight, _ in sources]
        for source in drawer.rng.choices(sources, weights) if drawer.profile else [*sources]:
            sentence_questions = next(source[1], None)
            if sentence_questions is None:
                sources.remove(source)
            else:
                questions += sentence_questions[: count - len(questions)]
    return questions


def _sample_questions(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], used: set[str]
) -> Iterator[list[ProbedItem]]:
    """Yield a list of items for each sentence. In each list, TRUE and FALSE labels alternate, equally many of both."""
    misses = 0
    for event in task.sample_events(drawer):
        probed = ProbedSentence(event, drawer.wording)
        answers = {probe: task.question(probed, probe) for probe in probes}
        # Equally many probe words with each answer, in alternation: the labels are balanced in every item list.
        true, false = ([probe for probe, answer in answers.items() if answer is label] for label in (True, False))
        size = min(len(true), len(false))
        pairs = zip(drawer.rng.sample(true, size), drawer.rng.sample(false, size), strict=True)
        balanced = list(chain.from_iterable(pairs))
        if balanced and probed.text not in used:
            misses = 0
            used.add(probed.text)
            item = UnitItem(event=event, text=probed.text, template=drawer.template, label=True, part=drawer.part.name)
            yield [(probe, replace(item, label=answers[probe] is True)) for probe in balanced]
        elif (misses := misses + 1) == MAX_REJECTED:
            return


SAMPLERS = {Sampling.MIRROR: _sample_mirrored, Sampling.PAPER: _sample_as_in_the_paper}


def _too_few_error(task: CompevalTask, drawer: Drawer, built: int, requested: int) -> TooFewError:
    return TooFewError(
        f"{task.name}: only {built} of {requested} items could be made from vocabulary "
        f"{drawer.vocabulary!r} without using a sentence twice; ask for fewer items (validation "
        "holds out words too) or use a larger vocabulary"
    )
