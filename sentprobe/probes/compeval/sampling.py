"""Sampling of the items of compeval tasks: as balanced mirror pairs, or as in the paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from random import Random

from sentprobe.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import get_text_renderer
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.profile import Profile
from sentprobe.lexicon import Lexicon
from sentprobe.probes.compeval import held_out_pairs
from sentprobe.probes.compeval.held_out_structures import Structure, get_trained_part, list_test_parts
from sentprobe.probes.compeval.items import ALL_SENTENCES, MAX_REJECTED, Drawer, Part, Probe, Unit, UnitItem
from sentprobe.probes.compeval.mirror import list_adverb_counts, take_units, take_weighted_units
from sentprobe.probes.compeval.questions import ProbedSentence
from sentprobe.probes.compeval.tasks import CompevalTask, HeldOutKind
from sentprobe.probes.dataset import Sampling, Split, TooFewError
from sentprobe.processes import find_memory_size

ProbedItem = tuple[Probe, UnitItem]
"""The probe words of an item, and the item itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWords:
    """The lexicon and the probe words of each split."""

    lexicons: Mapping[Split, Lexicon]
    probes: held_out_pairs.ProbesBySplit


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRequest:
    """The number of items of each split, and the settings for sampling. The order of *counts* is the sampling order."""

    vocabulary: str
    counts: Mapping[Split, int]
    rng: Random
    structure: Structure | None = None
    profile: Profile | None = None

    def list_parts(self, split: Split) -> tuple[Part, ...]:
        """Return a split's parts. If a structure is held out, test has two parts: sentences with it, and without it."""
        return list_test_parts(self.structure) if split is Split.TEST else (get_trained_part(self.structure),)


def choose_split_words(
    task: CompevalTask, lexicon: Lexicon, vocabulary: str, *, splits: Sequence[Split], rng: Random
) -> SplitWords:
    """Choose the lexicon and probe words of each split; training lacks the pairs or adverbs that the task holds out."""
    words = held_out_pairs.select_usable_words(lexicon, vocabulary)
    validation = Split.VALIDATION in splits
    probes = held_out_pairs.select_probes(words, task.probed_kinds, rng=rng)
    if task.has_noun:
        probes = held_out_pairs.build_pairs(
            words, task.probed_kinds, rng=rng, task=task.name, absent=task.absent_probes, validation=validation
        )
    lexicons: Mapping[Split, Lexicon] = dict.fromkeys(Split, lexicon)
    if task.held_out is HeldOutKind.ADVERBS:
        lexicons = held_out_pairs.split_adverbs(lexicon, vocabulary, rng=rng, task=task.name, validation=validation)
    return SplitWords(lexicons=lexicons, probes=probes)


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
        # At most half of the items of a unit lack a probe word. With Sampling.PAPER, a sentence has several items.
        most = min(sentences, 2 * probed_sentences) if sampling is Sampling.MIRROR else len(probes) * probed_sentences
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
    """Sample the items of each split as units. Each tuple of probe words gets about equally many units."""
    counts = {split: ceil(count / task.unit) for split, count in request.counts.items()}
    probes: held_out_pairs.ProbesBySplit = {split: words.probes[split][:count] for split, count in counts.items()}
    held_out_pairs.check_probe_words_trained(probes, task=task.name)
    pairs = {*probes[Split.TEST], *probes.get(Split.VALIDATION, ())} - {*probes[Split.TRAIN]}
    separated = frozenset(pairs if task.has_noun else ())
    used: set[str] = set()
    items: dict[Split, list[ProbedItem]] = {}
    drawers = {split: _make_drawer(words, request, split, separated) for split in counts}
    probes = _restrict_to_usable_probes(task, drawers[Split.TRAIN], probes)
    for split, count in request.counts.items():
        parts = request.list_parts(split)
        part_drawers = [replace(drawers[split], part=part) for part in parts]
        part_count = count // len(parts)
        units = [unit for d in part_drawers for unit in _sample_units(task, d, probes[split], part_count, used)]
        request.rng.shuffle(units)
        items[split] = [(probe, item) for probe, unit in units for item in unit]
    return items


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
    """Return *probes* without unusable tuples of probe words.

    A training tuple remains if *drawer* can draw an item that asks about its words. A validation or test tuple remains
    if each of its words is in a remaining training tuple. Raises NoStructureError if no training tuple remains.
    """
    if not drawer.may_lack_units:
        return probes
    trained = [
        probe
        for probe in probes[Split.TRAIN]
        if any(next(task.make_units(d, probe), None) for d in drawer.list_template_drawers(task.templates))
    ]
    if not trained:
        reason = "has the held-out structure" if drawer.part.name else "has weight 0 in the profile"
        raise NoStructureError(
            f"{task.name}: every sentence of its questions {reason}, so that no training sentence is left"
        )
    return held_out_pairs.restrict_to_trained_words(probes, trained)


def _sample_units(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], item_count: int, used: set[str]
) -> list[tuple[Probe, Unit]]:
    """Return units with *item_count* items in total, spread evenly over *probes*; the last unit may be incomplete."""
    count = ceil(item_count / task.unit)
    units: list[tuple[Probe, Unit]] = []
    remaining = list(probes)
    while remaining and len(units) < count:
        share, extra = divmod(count - len(units), len(remaining))
        sizes = {probe: share + (i < extra) for i, probe in enumerate(remaining)}
        sampled = {p: _take_probe_units(task, drawer, p, n, used) for p, n in sizes.items()}
        units += [(probe, unit) for probe, probe_units in sampled.items() for unit in probe_units]
        remaining = [p for p in remaining if drawer.may_lack_units and sizes[p] and len(sampled[p]) == sizes[p]]
    if not units and drawer.part.having:
        raise NoStructureError(
            f"{task.name}: no sentence of its questions has the structure "
            f"({drawer.part.name}), so that no test item is left"
        )
    if len(units) < count:
        raise _too_few_error(task, drawer, len(units) * task.unit, item_count)
    probe, last = units[-1]
    return [*units[:-1], (probe, last[: len(last) - count * task.unit + item_count])]


class NoStructureError(TooFewError, UsageError):
    """A structure cannot be held out of a task, because all or none of the task's sentences have it."""


def _take_probe_units(task: CompevalTask, drawer: Drawer, probe: Probe, count: int, used: set[str]) -> list[Unit]:
    drawers = drawer.list_template_drawers(task.templates)
    sources = [task.make_units(template_drawer, probe) for template_drawer in drawers]
    if drawer.profile is None:
        return take_units(sources, count, used)
    units, spent = take_weighted_units(sources, [d.weight for d in drawers], count, used, drawer.rng)
    if spent is not None and not drawer.part.name:
        raise TooFewError(
            f"{task.name}: the profile asks for more sentences of {drawers[spent].template} with {' and '.join(probe)} "
            f"than vocabulary {drawer.vocabulary!r} has; ask for fewer items or use a larger vocabulary"
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
        balanced = _choose_balanced(answers, drawer)
        if balanced and probed.text not in used:
            misses = 0
            used.add(probed.text)
            item = UnitItem(event=event, text=probed.text, template=drawer.template, label=True, part=drawer.part.name)
            yield [(probe, replace(item, label=answers[probe] is True)) for probe in balanced]
        elif (misses := misses + 1) == MAX_REJECTED:
            return


def _choose_balanced(answers: Mapping[Probe, int | None], drawer: Drawer) -> list[Probe]:
    """Choose at random equally many probes with the answer TRUE and with FALSE; return them in alternation."""
    true, false = ([probe for probe, answer in answers.items() if answer is label] for label in (True, False))
    size = min(len(true), len(false))
    pairs = zip(drawer.rng.sample(true, size), drawer.rng.sample(false, size), strict=True)
    return list(chain.from_iterable(pairs))


SAMPLERS = {Sampling.MIRROR: _sample_mirrored, Sampling.PAPER: _sample_as_in_the_paper}


def _too_few_error(task: CompevalTask, drawer: Drawer, built: int, requested: int) -> TooFewError:
    return TooFewError(
        f"{task.name}: only {built} of {requested} items could be made from vocabulary "
        f"{drawer.vocabulary!r} without using a sentence twice; ask for fewer items (validation "
        "holds out words too) or use a larger vocabulary"
    )
