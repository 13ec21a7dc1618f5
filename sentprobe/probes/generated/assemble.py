"""Build datasets of the suites "compeval" (Ettinger et al. 2018) and "structure", and annotate generated sentences.

In each split, labels are balanced overall and among items with the same probe words. Test asks about other
noun-verb pairs than training, and no training sentence has both words of a test pair. In tasks without pairs, such as
Negation, test has other adverbs than training. Validation also has its own pairs or adverbs if the vocabulary is large
enough; otherwise the card has a note. No sentence occurs twice.

Annotations are relative to the probed clause and the probed noun. The probed clause is the clause of the probed verb,
else the main clause. The probed noun is the noun among the probe words, else the subject of the probed clause.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from random import Random

from sentprobe.common.errors import find_versions
from sentprobe.common.specs import GENERATED_SIZE, Sampling, Size, choose_member
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import Frame
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.sentences.sentence_plan import find_slots, plan_sentence
from sentprobe.generator.spaces.profile import Profile, load_profile
from sentprobe.generator.spaces.templates import SplitSide, find_event_pattern, find_patterns, parse_side
from sentprobe.lexicon import Kind, Lexicon, english
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.lexicon import restrict_to_one_sort
from sentprobe.probes.datasets.dataset import STRUCTURE, Card, Items, ProbeDataset, Split, TooFewError
from sentprobe.probes.generated import held_out_pairs
from sentprobe.probes.generated import sampling as sp
from sentprobe.probes.generated.held_out_pairs import Structure, find_structure
from sentprobe.probes.generated.items import ProbedItem, compute_composition, compute_largest_shares, count_items
from sentprobe.probes.generated.tasks import CompevalTask, HeldOutKind, check_size, find_task

NESTED = "nested"
"""The name of the sub-template of sentences that have a relative clause inside a relative clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedClause:
    """The main clause or a relative clause of an event."""

    path: str
    """The prefix of the slot names of the clause's words: ``"agent.clause."``, or "" for the main clause."""
    event: ev.Event
    kind: ev.ClauseKind | None
    """Subject or object relative; None for the main clause."""

    @property
    def subject(self) -> str:
        """The slot name of the subject, such as ``"agent.noun"``; in a subject relative, the modified noun's slot."""
        if self.event.argument(self.event.subject) is ev.GAP:
            return f"{self.path.removesuffix('clause.')}noun"
        return f"{self.path}{self.event.subject.value}.noun"


def iterate_clauses(event: ev.Event, path: str = "", kind: ev.ClauseKind | None = None) -> Iterator[AnnotatedClause]:
    """Yield the main clause of an event, then its relative clauses at any depth."""
    yield AnnotatedClause(path=path, event=event, kind=kind)
    for role, person in ev.iterate_participants(event):
        if isinstance(person.clause, ev.RelativeClause):
            relative = person.clause
            yield from iterate_clauses(relative.event, f"{path}{role.value}.clause.", relative.kind)


class ProbedEvent:
    """An event, and the lemmas of the probe words that an item asks about."""

    def __init__(self, event: ev.Event, probes: Sequence[str] = (), *, language: Language) -> None:
        self.event = event
        self._language = language
        self.clauses = tuple(iterate_clauses(event))
        self._slots = find_slots(event)
        self._probes = tuple(probes)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The index of each word among the tokens of the sentence, by slot name such as ``"agent.noun"``."""
        tokens = plan_sentence(self.event, self._language).tokens
        return {token.slot: position for position, token in enumerate(tokens)}

    @cached_property
    def probe_positions(self) -> tuple[int, ...]:
        """The token indices of the probe words, in ascending order."""
        probe_slots = (slot for slot, lemma in self._slots.items() if lemma in self._probes)
        word_slots = (slot for slot in probe_slots if slot.endswith(("noun", "verb", "adjective0")))
        return tuple(sorted(self.positions[slot] for slot in word_slots))

    @cached_property
    def clause(self) -> AnnotatedClause:
        """The probed clause: the clause of the probed verb, else the main clause."""
        probed_clauses = (clause for clause in self.clauses if clause.event.predicate in self._probes)
        return next(probed_clauses, self.clauses[0])

    @cached_property
    def noun(self) -> str | None:
        """The slot name of the probed noun, else of the probed clause's subject, else of the first noun, else None."""
        nouns = [slot for slot in self._slots if slot.endswith("noun")]
        probed_nouns = (slot for slot in nouns if self._slots[slot] in self._probes)
        subjects = (slot for slot in nouns if slot == self.clause.subject)
        return next(chain(probed_nouns, subjects, nouns), None)

    @cached_property
    def between(self) -> range:
        """The token indices between the probed noun and the verb of the probed clause; empty if there is no noun."""
        if self.noun is None:
            return range(0)
        positions = sorted((self.positions[self.noun], self.positions[f"{self.clause.path}verb"]))
        return range(positions[0] + 1, positions[1])

    @cached_property
    def numbers(self) -> Mapping[str, ev.Number | None]:
        """The grammatical number (singular or plural) of each noun, by slot name."""
        numbers = {}
        for clause in self.clauses:
            for role, person in ev.iterate_participants(clause.event):
                path = f"{clause.path}{role.value}."
                numbers[f"{path}noun"] = person.number
                if person.conjunct is not None:
                    numbers[f"{path}conjunct.noun"] = person.conjunct.number
        return numbers

    @property
    def attractors(self) -> int:
        """How many nouns between the probed noun and the verb differ from the probed noun in grammatical number."""
        noun_number = None if self.noun is None else self.numbers[self.noun]
        other_slots = (slot for slot, number in self.numbers.items() if number is not noun_number)
        return sum(self.positions[slot] in self.between for slot in other_slots)

    @property
    def template(self) -> str:
        """The name of the sentence's sub-template, as listed by ``gen templates``; or NESTED."""
        if any(clause.path.count("clause.") > 1 for clause in self.clauses):
            return NESTED
        return find_event_pattern(self.event).name

    @property
    def notation(self) -> str:
        """The event as text, such as ``"help[passive](agent: man)"``."""
        return write_event(self.event)


_KINDS = {None: "main", ev.ClauseKind.SUBJECT: "subject relative", ev.ClauseKind.OBJECT: "object relative"}
_ASPECTS = {
    ev.Aspect.SIMPLE: "simple",
    ev.Aspect.PROGRESSIVE: "progressive",
    ev.Aspect.PERFECT: "perfect",
    ev.Aspect.PERFECT_PROGRESSIVE: "perfect progressive",
}
_TENSES = {None: "none", ev.Tense.PAST: "past", ev.Tense.PRESENT: "present"}
_POLARITIES = {ev.Polarity.POSITIVE: "positive", ev.Polarity.NEGATIVE: "negative"}


EVENT_COLUMNS: Mapping[str, Callable[[ProbedEvent], object]] = {
    "voice": lambda probed: probed.clause.event.voice,
    "clause": lambda probed: _KINDS[probed.clause.kind],
    "distance": lambda probed: len(probed.between),
    "attractors": lambda probed: probed.attractors,
    # An event with a modal has no tense, and an order has neither.
    "tense": lambda probed: "modal" if probed.clause.event.modal is not None else _TENSES[probed.clause.event.tense],
    "aspect": lambda probed: _ASPECTS[probed.clause.event.aspect or ev.Aspect.SIMPLE],
    "polarity": lambda probed: _POLARITIES[probed.clause.event.polarity or ev.Polarity.POSITIVE],
    "template": lambda probed: probed.template,
}


def build_event_columns(probed_event: ProbedEvent) -> dict[str, str]:
    """Return the values of EVENT_COLUMNS as text, by column name; the event must have no open fields."""
    return {name: str(describe(probed_event)) for name, describe in EVENT_COLUMNS.items()}


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
    notes: tuple[str, ...] = (),
) -> ProbeDataset:
    """Build the dataset of a task.

    - side: the part of the words and structures to use, such as the held-out part
    - structure: half of the test items have this structure, and training and validation items lack it
    - notes: remarks for the card

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
        notes=(*notes, *_describe_held_out(task, words, side, structure, validation=size.validation > 0)),
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
    train: int = GENERATED_SIZE.train,
    test: int = GENERATED_SIZE.test,
    validation: int = GENERATED_SIZE.validation,
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
