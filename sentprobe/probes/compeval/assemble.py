"""The datasets of the five tasks of Ettinger et al. (2018), built from the generator.

For a sentence s, probe noun n and probe verb v (lemmas; s has any inflected form of them):

- Content1Probe: does v occur in s?
- Content2Probe: do both n and v occur in s? When not, one of the two does.
- Order: n and v occur; does n come before v?
- SemRole: n and v occur; is n the agent of v?
- Negation: s has v, one other verb and one negation; is v positive?

Labels are balanced overall and for every probe (word or pair) in each split. The pairs of noun and
verb in test are not those of training, nor does any training sentence have both words of one
(Content2Probe, Order, SemRole); the adverbs in test do not occur in training (Negation). The same
holds of validation, where the vocabulary has words enough; the card says where it has not. No
sentence occurs twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from sentprobe.errors import UsageError, counted
from sentprobe.generator.drawn import parts_of
from sentprobe.generator.event import Frame, Voice
from sentprobe.generator.split import SplitSide, parse_side
from sentprobe.generator.templates import find_patterns
from sentprobe.generator.wording import wording_of
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.words import VERBS
from sentprobe.probes.compeval import held_out
from sentprobe.probes.compeval.items import Drawer, Part, Probe, Unit, UnitItem
from sentprobe.probes.compeval.mirror import content2, in_turn
from sentprobe.probes.compeval.paper import PaperQuestion, check_trained, paper_items
from sentprobe.probes.compeval.structures import (
    Structure,
    find_structure,
    parts_of_test,
    trained_part,
)
from sentprobe.probes.compeval.tasks import CompevalTask, HeldOut, check_size, find_task
from sentprobe.probes.dataset import (
    STRUCTURE,
    Card,
    Items,
    ProbeDataset,
    Sampling,
    Size,
    Split,
    TooFewError,
)
from sentprobe.specs import choose
from sentprobe.versions import versions

_Questions = Mapping[Split, Sequence[tuple[Probe, UnitItem]]]


def count_items(items: _Questions, *, labels: Sequence[str]) -> dict[str, int]:
    """Count the items of each split, sorted by what is counted.

    That is: label; structure (sub-template and voice of the main clause); aspect of each clause;
    number of nouns; in which clause the probe words are; whether the structure is held out.
    """
    counts: Counter[str] = Counter()
    for split, questions in items.items():
        counts.update(f"{split.value}: {item.part}" for _, item in questions if item.part)
        counts.update(f"{split.value}: {labels[item.label]}" for _, item in questions)
        alike = Counter(_structure(probe, item) for probe, item in questions)
        for structure, count in alike.items():
            for feature in _features(*structure):
                counts[f"{split.value}: {feature}"] += count
    return dict(sorted(counts.items()))


def structures_of(card: Card, split: Split) -> dict[str, int]:
    """Return the sub-templates that the items of a split come from, with how many do.

    >>> card = Card("Order", counts={"test: transitive, active": 3, "test: transitive, passive": 1})
    >>> structures_of(card, Split.TEST)
    {'transitive': 4}
    """
    counts: Counter[str] = Counter()
    for key, count in card.counts.items():
        name, _, voice = key.removeprefix(f"{split.value}: ").partition(", ")
        if key.startswith(f"{split.value}: ") and voice in [*Voice]:
            counts[name] += count
    return dict(counts)


_Clauses = tuple[tuple[str, str], ...]
"""The voice and the aspect of each clause, the main one first."""


def _structure(probe: Probe, item: UnitItem) -> tuple[str, _Clauses, int, str]:
    """Return what the features of an item follow from, which is the same for many."""
    event, parts = item.event, parts_of(item.event.layout)
    nouns = [(event.value(at), event.layout.variables[at].name) for at in parts.nouns]
    verbs = [(event.value(clause.verb), clause.site.path) for clause in parts.clauses]
    kinds = (("noun", nouns), ("verb", verbs))[-len(probe) :]
    places = zip(kinds, probe, strict=True)
    return (
        item.template,
        tuple(
            (clause.voice_of(event), str(event.value(clause.aspect))) for clause in parts.clauses
        ),
        len(nouns),
        ", ".join(f"{kind} {_place(found, word)}" for (kind, found), word in places),
    )


def _features(template: str, clauses: _Clauses, nouns: int, places: str) -> Iterator[str]:
    (voice, aspect), *inner = clauses
    yield f"{template}, {voice}"
    yield f"main clause {aspect}"
    yield counted(nouns, "noun")
    for _, aspect in inner:
        yield f"relative clause {aspect}"
    yield f"probe: {places}"


def _place(found: Sequence[tuple[object, str]], word: str) -> str:
    for value, path in found:
        if value == word:
            return "in relative clause" if "clause" in path else "in main clause"
    return "absent"


def largest_shares(items: _Questions) -> dict[str, float]:
    """Return for each split the share of its most frequent sub-template."""
    return {
        split.value: max(Counter(item.template for _, item in questions).values()) / len(questions)
        for split, questions in sorted(items.items(), key=lambda entry: list(Split).index(entry[0]))
    }


LABELS = ("FALSE", "TRUE")

SOURCE = "sentprobe, after Ettinger et al. 2018"
"""What the cards of these datasets state as their source."""

_DRAWN = (Split.TEST, Split.VALIDATION, Split.TRAIN)
"""The order in which splits are drawn: those with fewer probes to draw from first."""


def build(
    task: CompevalTask,
    lexicon: Lexicon,
    *,
    vocabulary: str = "compeval",
    size: Size | None = None,
    seed: int = 0,
    command: str = "",
    sampling: Sampling = Sampling.MIRROR,
    side: SplitSide | None = None,
    structure: Structure | None = None,
) -> ProbeDataset:
    """Build the dataset of a compeval task, of a *side* of a split if one is given.

    - structure: which no training item has, and half of the test items have

    Raises:
        UsageError: a size that is not a positive multiple of the task's unit; a side without words.
        NoStructureError: all sentences that are asked about have the structure, or none has.
        TooFewItemsError: a size that is too small for the number of probe words.
        TooFewError: the vocabulary does not yield so many sentences.
    """
    size = size or Size()
    check_size(task, size, sampling=sampling, halves=structure is not None)
    if side:
        task, lexicon = _on_side(task, lexicon, vocabulary, side)
    rng = Random(f"{seed} {task.name}")
    counts = {split: size.of(split) for split in _DRAWN if size.of(split)}
    words = _words_of_splits(task, lexicon, vocabulary, splits=[*counts], rng=rng)
    draw = _SAMPLINGS[sampling]
    request = DrawRequest(vocabulary=vocabulary, counts=counts, rng=rng, structure=structure)
    items = draw(task, words, request)
    counted = count_items(items, labels=LABELS)
    card = Card(
        task=task.name,
        seed=seed,
        vocabulary=vocabulary,
        command=command,
        sampling=sampling.value,
        source=SOURCE,
        versions=versions("sentprobe", "numpy"),
        counts=counted,
        largest_share=largest_shares(items),
        notes=(
            *_sides(side),
            *_of_structure(structure),
            *(_notes(task, words) if size.validation else ()),
        ),
    )
    return _dataset(task, items, card)


def _on_side(
    task: CompevalTask, lexicon: Lexicon, vocabulary: str, side: SplitSide
) -> tuple[CompevalTask, Lexicon]:
    """Return the task with the structures of a side, and its words that these have a place for.

    Raises:
        UsageError: the side has no words.
        TooFewError: it has none of the task's structures.
    """
    templates = side.templates(task.templates)
    if not templates:
        raise TooFewError(f"{task.name}: {side} leaves none of its structures")
    patterns = find_patterns(templates)
    frames = {each.frame for each in patterns}
    frames |= {clause.frame for each in patterns for _, clause in each.clauses}
    idle: held_out.WordsByKind = {kind: () for kind in VERBS if Frame(kind.value) not in frames}
    words = side.lexicon(lexicon, vocabulary).with_words(vocabulary, idle)
    return replace(task, templates=templates), words


def _sides(side: SplitSide | None) -> tuple[str, ...]:
    return () if side is None else (f"words and structures are those of {side}",)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWords:
    """What each split may use: a lexicon, and the probe words that it asks about."""

    lexicons: Mapping[Split, Lexicon]
    probes: held_out.BySplit


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRequest:
    """How many items are drawn for each split, in which order, and from which vocabulary."""

    vocabulary: str
    counts: Mapping[Split, int]
    rng: Random
    structure: Structure | None = None

    def parts(self, split: Split) -> tuple[Part, ...]:
        """Return the parts that a split has as many items of each."""
        if split is Split.TEST:
            return parts_of_test(self.structure)
        return (trained_part(self.structure),)


def _words_of_splits(
    task: CompevalTask, lexicon: Lexicon, vocabulary: str, *, splits: Sequence[Split], rng: Random
) -> SplitWords:
    words = held_out.usable_words(lexicon, vocabulary)
    validation = Split.VALIDATION in splits
    probes = held_out.verb_probes(words, rng=rng)
    if task.has_noun:
        absent = task.make is content2
        probes = held_out.pair_probes(
            words, rng=rng, task=task.name, absent=absent, validation=validation
        )
    lexicons: Mapping[Split, Lexicon] = dict.fromkeys(Split, lexicon)
    if task.held_out is HeldOut.ADVERBS:
        lexicons = held_out.split_adverbs(
            lexicon, vocabulary, rng=rng, task=task.name, validation=validation
        )
    return SplitWords(lexicons=lexicons, probes=probes)


def _of_structure(structure: Structure | None) -> tuple[str, ...]:
    """Say what training lacks."""
    if structure is None:
        return ()
    return (
        f"no training sentence has {structure.what}, and half of the test items have one: "
        f"probe show --by {STRUCTURE}",
    )


def _notes(task: CompevalTask, words: SplitWords) -> tuple[str, ...]:
    """Say what validation shares with training because there are too few words."""
    shared = {
        HeldOut.PAIRS: words.probes[Split.VALIDATION] == words.probes[Split.TRAIN],
        HeldOut.ADVERBS: words.lexicons[Split.VALIDATION] is words.lexicons[Split.TRAIN],
        HeldOut.NOTHING: False,
    }
    if not shared[task.held_out]:
        return ()
    return (
        f"validation has the {task.held_out.value} of training: the vocabulary is too small to "
        "hold out others for it",
    )


def _mirrored(
    task: CompevalTask, words: SplitWords, request: DrawRequest
) -> dict[Split, list[PaperQuestion]]:
    """Draw units, spread as evenly as can be over the probes and the structures."""
    counts = {split: count // task.unit for split, count in request.counts.items()}
    probes = held_out.first_probes(words.probes, units=counts, task=task.name)
    pairs = {*probes[Split.TEST], *probes.get(Split.VALIDATION, ())} - {*probes[Split.TRAIN]}
    apart = frozenset(pairs if task.has_noun else ())
    used: set[str] = set()
    items: dict[Split, list[PaperQuestion]] = {}
    drawers = {split: _drawer(words, request, split, apart) for split in counts}
    if request.structure is not None:
        trained = _with_units(task, drawers[Split.TRAIN], probes[Split.TRAIN])
        probes = held_out.of_words(probes, trained)
    for split, count in counts.items():
        parts = request.parts(split)
        each = count // len(parts)
        ones = (replace(drawers[split], part=part) for part in parts)
        units = [unit for one in ones for unit in _units(task, one, probes[split], each, used)]
        request.rng.shuffle(units)
        items[split] = [(probe, item) for probe, unit in units for item in unit]
    return items


def _drawer(
    words: SplitWords, request: DrawRequest, split: Split, apart: frozenset[Probe]
) -> Drawer:
    return Drawer(
        wording=wording_of(words.lexicons[split]),
        vocabulary=request.vocabulary,
        template="",
        rng=request.rng,
        apart=apart if split is Split.TRAIN else frozenset(),
        part=trained_part(request.structure),
    )


def _with_units(task: CompevalTask, drawer: Drawer, probes: Sequence[Probe]) -> list[Probe]:
    """Return the probes for which there are units at all.

    Raises:
        NoStructureError: there are none.
    """
    found = [
        probe
        for probe in probes
        if any(next(task.make(each, probe), None) for each in _in_templates(task, drawer))
    ]
    if not found:
        raise NoStructureError(
            f"{task.name}: every sentence that it asks about has the structure that is held out, "
            "so that none is left to train on"
        )
    return found


def _in_templates(task: CompevalTask, drawer: Drawer) -> list[Drawer]:
    """Return a drawer for each sub-template of the task, in random order."""
    names = list(dict.fromkeys(p.name for p in find_patterns(task.templates)))
    return [replace(drawer, template=name) for name in drawer.shuffled(names)]


_ProbedUnit = tuple[Probe, Unit]


def _units(
    task: CompevalTask, drawer: Drawer, probes: Sequence[Probe], count: int, used: set[str]
) -> list[_ProbedUnit]:
    found: list[_ProbedUnit] = []
    left = list(probes)
    while left and len(found) < count:
        wanted, more = divmod(count - len(found), len(left))
        asked = {probe: wanted + (i < more) for i, probe in enumerate(left)}
        made = {probe: _units_of(task, drawer, probe, n, used) for probe, n in asked.items()}
        found += [(probe, unit) for probe, units in made.items() for unit in units]
        # A structure may leave a probe nothing to ask about: then the others are asked more often.
        left = [p for p in left if drawer.part.name and asked[p] and len(made[p]) == asked[p]]
    if not found and drawer.part.having:
        raise NoStructureError(
            f"{task.name}: no sentence that it asks about has the structure "
            f"({drawer.part.name}), so that there is nothing to test"
        )
    if len(found) < count:
        raise _too_few(task, drawer, found=len(found) * task.unit, wanted=count * task.unit)
    return found


class NoStructureError(TooFewError, UsageError):
    """A structure cannot be held out of a task: every sentence of its questions has it, or none."""


def _units_of(
    task: CompevalTask, drawer: Drawer, probe: Probe, count: int, used: set[str]
) -> list[Unit]:
    """Return as many units of a probe, or as many as there are, from all sub-templates in turn."""
    sources = [task.make(each, probe) for each in _in_templates(task, drawer)]
    return in_turn(sources, count, used)


def _as_in_the_paper(
    task: CompevalTask, words: SplitWords, request: DrawRequest
) -> dict[Split, list[PaperQuestion]]:
    probed = [probe for probes in words.probes.values() for probe in probes]
    used: set[str] = set()
    items: dict[Split, list[PaperQuestion]] = {}
    probes = words.probes
    if request.structure is not None:
        alone = _drawer(words, request, Split.TRAIN, frozenset())
        trained = _with_units(task, alone, probes[Split.TRAIN])
        probes = held_out.of_words(probes, trained)
    for split, count in request.counts.items():
        drawer = Drawer(
            wording=wording_of(
                held_out.with_probed_words(words.lexicons[split], request.vocabulary, probed)
            ),
            vocabulary=request.vocabulary,
            template="",
            rng=request.rng,
        )
        items[split] = []
        parts = request.parts(split)
        for one in (replace(drawer, part=part) for part in parts):
            each = paper_items(task, one, probes[split], count // len(parts), used)
            if len(each) < count // len(parts):
                raise _too_few(task, one, found=len(each), wanted=count // len(parts))
            items[split] += each
        request.rng.shuffle(items[split])
    check_trained(items, task=task)
    return items


_SAMPLINGS = {Sampling.MIRROR: _mirrored, Sampling.PAPER: _as_in_the_paper}


def _too_few(task: CompevalTask, drawer: Drawer, *, found: int, wanted: int) -> TooFewError:
    return TooFewError(
        f"{task.name}: only {found} of {wanted} items could be made from vocabulary "
        f"{drawer.vocabulary!r} without using a sentence twice; ask for fewer items (validation "
        "holds out words too) or use a larger vocabulary"
    )


def _dataset(
    task: CompevalTask, items: Mapping[Split, Sequence[PaperQuestion]], card: Card
) -> ProbeDataset:
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
    return ProbeDataset(
        name=task.name,
        sentences=tuple(sentences),
        labels=LABELS,
        probe_words=tuple(words),
        splits=splits,
        card=card,
    )


def build_task(
    task: str,
    *,
    train: int = 4000,
    test: int = 1000,
    validation: int = 0,
    vocabulary: str = "compeval",
    lexicon: Lexicon | None = None,
    sampling: str = "mirror",
    hold_out_structure: str | None = None,
    seed: int = 0,
    held_out: Sequence[str] = (),
) -> ProbeDataset:
    """Build one of the five tasks of Ettinger et al. (2018), as ``probe build compeval`` does.

    - hold_out_structure: which no training item has, and half of the test items have, such as
      ``"passive"``
    - held_out: of a split, what is used (``["0.3"]``): see ``--held-out``

    Raises:
        UsageError: an unknown task, vocabulary, sampling or structure; a size that does not
            balance.
        SentprobeError: the vocabulary does not yield so many sentences.

    >>> data = build_task("Order", train=400, test=56)
    >>> len(data.sentences), data.mirrored
    (456, True)
    """
    return build(
        find_task(task),
        lexicon or english(),
        vocabulary=vocabulary,
        size=Size(train, test, validation),
        seed=seed,
        sampling=choose(Sampling, sampling, what="sampling"),
        side=parse_side(held_out, held_out=True),
        structure=None if hold_out_structure is None else find_structure(hold_out_structure),
    )
