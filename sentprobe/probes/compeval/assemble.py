"""Build datasets of the suites "compeval" (Ettinger et al. 2018) and "structure" from generated sentences.

In each split, labels are balanced overall and among items with the same probe words. Test asks about other
noun-verb pairs than training, and no training sentence has both words of a test pair. In tasks without pairs, such as
Negation, test has other adverbs than training. Validation also has its own pairs or adverbs if the vocabulary is large
enough; otherwise the card has a note. No sentence occurs twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from sentprobe.generator.events.event import Frame
from sentprobe.generator.spaces.held_out_words import SplitSide, parse_side
from sentprobe.generator.spaces.profile import Profile, load_profile
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.lexicon import Kind, Lexicon, english
from sentprobe.lexicon.sorts import restrict_to_one_sort
from sentprobe.probes.compeval import held_out_pairs
from sentprobe.probes.compeval import sampling as sp
from sentprobe.probes.compeval.held_out_structures import Structure, find_structure
from sentprobe.probes.compeval.item_counts import compute_composition, compute_largest_shares, count_items
from sentprobe.probes.compeval.items import ProbedItem
from sentprobe.probes.compeval.tasks import CompevalTask, HeldOutKind, check_size, find_task
from sentprobe.probes.dataset import STRUCTURE, Card, Items, ProbeDataset, Sampling, Size, Split, TooFewError
from sentprobe.specs import choose_member
from sentprobe.versions import find_versions

_SAMPLING_ORDER = (Split.TEST, Split.VALIDATION, Split.TRAIN)
"""The order in which splits are sampled: the split with the fewest probes first."""


def build(
    task: CompevalTask,
    lexicon: Lexicon,
    *,
    vocabulary: str | None = None,
    size: Size | None = None,
    seed: int = 0,
    command: str = "",
    sampling: Sampling = Sampling.MIRROR,
    side: SplitSide | None = None,
    structure: Structure | None = None,
    profile: Profile | None = None,
) -> ProbeDataset:
    """Build the dataset of a task.

    - side: the part of the words and structures to use, such as the held-out part
    - structure: half of the test items have this structure, and training and validation items lack it

    Raises UsageError, NoStructureError, TooFewItemsError, TooManyItemsError or TooFewError.
    """
    task = task.adapt(lexicon.language)
    if sampling is Sampling.MIRROR:
        task = replace(task, templates=(*task.templates, *task.mirror_templates))
    size = size or Size()
    check_size(task, size, sampling=sampling, halves=structure is not None)
    vocabulary = vocabulary or task.vocabulary
    lexicon = restrict_to_one_sort(lexicon, vocabulary) if task.has_one_sort else lexicon
    if side:
        task, lexicon = _restrict_to_side(task, lexicon, vocabulary, side)
    # A task's own random numbers: its dataset does not depend on the other tasks of a run.
    rng = Random(f"{seed} {task.name}")
    counts = {split: size.count_items(split) for split in _SAMPLING_ORDER if size.count_items(split)}
    words = sp.choose_split_words(task, lexicon, vocabulary, splits=[*counts], sampling=sampling, rng=rng)
    request = sp.DrawRequest(vocabulary=vocabulary, counts=counts, rng=rng, structure=structure, profile=profile)
    sp.check_sentence_count(task, words, request, sampling)
    items = sp.SAMPLERS[sampling](task, words, request)
    card = Card(
        task=task.name,
        seed=seed,
        vocabulary=vocabulary,
        command=command,
        sampling=sampling.value,
        source=task.source,
        language=lexicon.language.code,
        versions=find_versions("sentprobe", "numpy"),
        counts=count_items(items, labels=task.labels),
        largest_share=compute_largest_shares(items),
        composition=compute_composition(items),
        notes=tuple(_describe_held_out(task, words, side, structure, validation=size.validation > 0)),
    )
    return _assemble_dataset(task, items, card)


def _restrict_to_side(
    task: CompevalTask, lexicon: Lexicon, vocabulary: str, side: SplitSide
) -> tuple[CompevalTask, Lexicon]:
    """Return the task and the lexicon with only the templates and words of *side*. Raises TooFewError."""
    templates = side.select_templates(task.templates)
    if not templates:
        raise TooFewError(f"{task.name}: {side} leaves none of its structures")
    patterns = find_patterns(templates)
    frames = {pattern.frame for pattern in patterns}
    frames |= {clause.frame for pattern in patterns for _, clause in pattern.clauses}
    unused: held_out_pairs.WordsByKind = {Kind(frame): () for frame in Frame if frame not in frames}
    words = side.restrict_lexicon(lexicon, vocabulary).replace_words(vocabulary, unused)
    return replace(task, templates=templates), words


def _describe_held_out(
    task: CompevalTask, words: sp.SplitWords, side: SplitSide | None, structure: Structure | None, *, validation: bool
) -> Iterator[str]:
    if side:
        yield f"words and structures are those of {side}"
    if structure:
        yield (
            f"no training sentence has {structure.description}, and half of the test items have one: "
            f"probe show --by {STRUCTURE}"
        )
    is_shared = {
        HeldOutKind.PAIRS: words.probes[Split.VALIDATION] == words.probes[Split.TRAIN],
        HeldOutKind.ADVERBS: words.lexicons[Split.VALIDATION] is words.lexicons[Split.TRAIN],
    }
    if task.has_noun and words.shares_test_pairs:
        yield "test also asks about pairs of training: the vocabulary has too few nouns to hold out two for each verb"
    if validation and is_shared.get(task.held_out):
        kind = task.held_out.value
        yield f"validation has the {kind} of training: the vocabulary is too small to hold out others for it"


def _assemble_dataset(task: CompevalTask, items: Mapping[Split, Sequence[ProbedItem]], card: Card) -> ProbeDataset:
    sentences: dict[str, int] = {}
    words: dict[str, int] = {}
    splits = {}
    for split in (split for split in Split if split in items):
        rows, probes, targets = [], [], []
        for probe, item in items[split]:
            rows.append(sentences.setdefault(item.text, len(sentences)))
            probes.append([words.setdefault(word, len(words)) for word in probe])
            targets.append(int(item.label))
        parts = tuple(item.part for _, item in items[split])
        columns = {STRUCTURE: parts} if any(parts) else {}
        splits[split] = Items(rows, probes, targets, columns)  # type: ignore[arg-type]
    texts, probe_words = tuple(sentences), tuple(words)
    return ProbeDataset(
        name=task.name, sentences=texts, labels=task.labels, probe_words=probe_words, splits=splits, card=card
    )


def build_task(
    task: str,
    *,
    train: int = 4000,
    test: int = 2000,
    validation: int = 0,
    vocabulary: str | None = None,
    lexicon: Lexicon | None = None,
    sampling: str = "mirror",
    hold_out_structure: str | None = None,
    profile: str | None = None,
    seed: int = 0,
    held_out: Sequence[str] = (),
) -> ProbeDataset:
    """Build a task of the suite compeval or structure, as ``probe build`` does.

    - vocabulary: the vocabulary of the sentences, by default that of the task's suite
    - hold_out_structure: the structure that training lacks and half of the test items have, such as ``"passive"``
    - profile: weights of structures and features, as in ``--profile``
    - held_out: values of ``--held-out``; ``["0.3"]`` uses only the 30% of nouns and verbs that are held out for test

    Raises:
        UsageError: an unknown task, vocabulary, sampling or structure, or a split size that prevents balanced labels.
        SentprobeError: the vocabulary has too few sentences.

    >>> data = build_task("Order", train=400, test=56)
    >>> len(data.sentences), data.mirrored
    (228, True)
    """
    return build(
        find_task(task),
        lexicon or english(),
        vocabulary=vocabulary,
        size=Size(train, test, validation),
        seed=seed,
        sampling=choose_member(Sampling, sampling, what="sampling"),
        side=parse_side(held_out, held_out=True),
        structure=None if hold_out_structure is None else find_structure(hold_out_structure),
        profile=load_profile(profile),
    )
