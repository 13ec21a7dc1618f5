"""Similarity scores of pairs of texts, computed in blocks to save memory.

Cross-encoders and other functions that score a list of pairs of texts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import FormatError, UsageError, format_count
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Spec, read_options
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSpace
from sentprobe.probes.datasets.records import read_named_rows
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Encoder, EncoderError, get_capabilities
from sentprobe.probes.encoders.kinds import check_installed
from sentprobe.probes.encoders.models.model_loading import (
    find_model,
    load_from_folder,
    read_architectures,
    report_encoding_errors,
    report_loading_errors,
)
from sentprobe.probes.encoders.models.python import convert_to_scores
from sentprobe.probes.similarity.measures import Nearness, NegativeKind, Sides
from sentprobe.probes.statistics import Floats

BLOCK = 2048
"""The number of triplets, or of a user's pairs, in a block."""

DECIMALS = 6
"""The number of decimals of a score, which is about the precision of float32 vectors."""


class PairScorer(Protocol):
    """An object that scores pairs of texts; a higher score means that the texts are more similar."""

    name: str
    measure: str
    """The name of the score, such as cosine."""

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Compare each of *columns* with *firsts*, row by row; return the scores of each column, (n,) float64."""


class VectorScorer:
    """A pair scorer that compares vectors; the score for a Euclidean distance is the negative distance."""

    def __init__(self, encoder: Encoder, nearness: Nearness = Nearness.COSINE, *, cache: Cache | None = None) -> None:
        capabilities = get_capabilities(encoder)
        if capabilities.bind_to_order or capabilities.needs_all_sentences:
            raise UsageError(f"{encoder.name} needs all sentences at once, but they are encoded in blocks")
        self.name, self.measure = encoder.name, nearness.value
        self._encoder, self._nearness, self._cache = encoder, nearness, cache

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Score *columns* against *firsts* row by row. A vector equal to that of ``columns[0]`` gets equal scores."""
        texts = list(dict.fromkeys(chain(firsts, *columns)))
        rows = {text: row for row, text in enumerate(texts)}
        vectors = embed(self._encoder, texts, cache=self._cache)
        sides = Sides(*(vectors[[rows[text] for text in column]] for column in (firsts, *columns)))
        first, *scores = (
            np.round(sides.compute_nearness(0, number, self._nearness), DECIMALS) + 0.0  # no negative zero
            for number in range(1, len(columns) + 1)
        )
        same = (sides.find_same(1, number) for number in range(2, len(columns) + 1))
        return [first, *(np.where(is_same, first, score) for is_same, score in zip(same, scores, strict=True))]


OWN_PAIRS = "own pairs"
"""The name of pairs from a user's file, which have no contrast."""


class ScoredPair(NamedTuple):
    """Two texts and their score."""

    score: float
    first: str
    second: str


NEAREST = 20
"""Number of pairs whose texts are returned: the pairs with different meanings that have the highest scores."""


def _find_nearest(nearest: list[ScoredPair], scores: Floats, *texts: Sequence[str]) -> list[ScoredPair]:
    """Return the pairs with the highest scores (at most NEAREST), from *nearest* and new pairs (*scores*, *texts*)."""
    pairs = map(ScoredPair, scores.tolist(), *texts)
    return nlargest(NEAREST, chain(nearest, pairs), key=lambda pair: pair.score)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPairs:
    """The scores of pairs with the same meaning, and of pairs with different meanings."""

    contrast: str
    """The contrast of the negatives; empty for a user's pairs."""
    form: str
    """Whether the negatives have the form of the anchor or of the positive; empty for a user's pairs."""
    kind: str = ""
    """The kind that a user's pairs have in their file; empty for pairs of all kinds and for generated pairs."""
    example: tuple[str, str]
    """The shortest pair with different meanings."""
    same_scores: Floats
    different_scores: Floats
    same_units: NDArray[np.int64]
    different_units: NDArray[np.int64]
    nearest: Sequence[ScoredPair] = ()
    """The pairs with different meanings that have the highest scores."""
    ties: int = 0
    """The number of negatives whose score equals that of their positive."""


def score_triplets(scorer: PairScorer, triplets: TripletSet, reporter: Reporter) -> list[ScoredPairs]:
    """Return two ScoredPairs. The first has the negatives in the anchor's form, the second those in the positive's."""
    scores, units = np.empty((3, len(triplets))), np.empty(len(triplets), np.int64)
    examples: list[list[tuple[str, str]]] = [[], []]
    nearest: list[list[ScoredPair]] = [[], []]
    for start, portion in triplets.iterate_portions(BLOCK):
        anchors, *texts_by_side = map(portion.render_texts, SIDES)
        block = slice(start, start + len(portion))
        scores[:, block] = scorer.score_columns(anchors, *texts_by_side)
        units[block] = portion.hash_units()
        nearest = [
            _find_nearest(*row, anchors, texts)
            for *row, texts in zip(nearest, scores[1:, block], texts_by_side[1:], strict=True)
        ]
        examples = [
            find_shortest([*pairs, *zip(anchors, texts, strict=True)])
            for pairs, texts in zip(examples, texts_by_side[1:], strict=True)
        ]
        reporter.advance(len(portion))
    positive, negative, hard = scores
    forms = ((NegativeKind.ANCHOR, hard, 1), (NegativeKind.FORM, negative, 0))
    return [
        ScoredPairs(
            contrast=triplets.space.contrast.name,
            form=form.value,
            example=examples[row][0],
            same_scores=positive,
            different_scores=scores_of_form,
            same_units=units,
            different_units=units,
            nearest=nearest[row],
            ties=int(((scores_of_form == positive) & np.isfinite(positive)).sum()),
        )
        for form, scores_of_form, row in forms
    ]


COLUMNS = ("a", "b", "same")
KIND_COLUMNS = ("kind", "contrast")
"""Names of a column by which the rates of a user's pairs are broken down."""


def score_own_pairs(scorer: PairScorer, path: Path) -> list[ScoredPairs]:
    """Score the pairs in a user's file; pairs with the same first text are one unit.

    The first ScoredPairs has all pairs. If the file has a column of kinds, each kind with pairs of different meaning
    has its own.
    """
    scores, units, labels, kinds = [], [], [], []
    examples: dict[str, list[tuple[str, str]]] = {"": []}
    nearest: dict[str, list[ScoredPair]] = {"": []}
    pairs = _read_pairs(path)
    while block := [*islice(pairs, BLOCK)]:
        firsts, seconds, same, block_kinds = map(list, zip(*block, strict=True))
        (block_scores,) = scorer.score_columns(firsts, seconds)
        scores.append(block_scores)
        negatives = [row for row, is_same in enumerate(same) if not is_same]
        by_kind = group_by(negatives, lambda row: block_kinds[row])  # noqa: B023 - called at once
        for kind, rows in {**by_kind, "": negatives}.items():
            texts = [firsts[row] for row in rows], [seconds[row] for row in rows]
            nearest[kind] = _find_nearest(nearest.get(kind, []), block_scores[rows], *texts)
            examples[kind] = find_shortest([*examples.get(kind, ()), *zip(*texts, strict=True)])
        units += [hash_words([text]) for text in firsts]
        labels += same
        kinds += block_kinds
    all_scores, all_units, is_same = np.concatenate(scores), np.array(units, np.int64), np.array(labels, np.bool_)
    rows_by_kind = {**group_by(range(len(kinds)), lambda row: kinds[row]), "": range(len(kinds))}
    scored = []
    for kind in sorted(examples):  # the first is that of all pairs
        of_kind = np.array(rows_by_kind[kind])
        same_rows, different_rows = of_kind[is_same[of_kind]], of_kind[~is_same[of_kind]]
        scored.append(
            ScoredPairs(
                contrast="",
                form="",
                kind=kind,
                example=examples[kind][0],
                same_scores=all_scores[same_rows],
                different_scores=all_scores[different_rows],
                same_units=all_units[same_rows],
                different_units=all_units[different_rows],
                nearest=nearest[kind],
            )
        )
    return scored


SURPLUS = 10
"""The ratio of sampled to requested triplets, since many sampled triplets do not have a suitable length."""


def count_lengths(path: Path) -> tuple[Counter[int], tuple[str, ...]]:
    """Count the pairs in a file by the number of tokens in the first text; also return notes on doubtful labels.

    Raises:
        UsageError: the file cannot be read.
        FormatError: it has no pairs, an empty text, or one label only.
    """
    lengths: Counter[int] = Counter()
    labels: dict[tuple[str, ...], set[bool]] = {}
    identical = 0
    for first, second, is_same, _ in _read_pairs(path):
        lengths[len(first.split())] += 1
        labels.setdefault(tuple(sorted((first, second))), set()).add(is_same)
        identical += first == second
    label_set = {*chain.from_iterable(labels.values())}
    if len(label_set) < 2:
        content = f"only pairs with same={int(*label_set)}" if labels else "no pairs"
        raise FormatError(f"{path}: {content}; pairs that mean the same (1) and others (0) are needed")
    contradictory = [pair for pair, values in labels.items() if len(values) > 1]
    notes = []
    if identical:
        notes.append(f"Own pairs: in {format_count(identical, 'pair')}, both texts are the same.")
    if contradictory:
        first, second = contradictory[0]
        pairs = format_count(len(contradictory), "pair")
        notes.append(f"Own pairs: {pairs} with both labels, same=1 and same=0, such as {first!r}, {second!r}.")
    return lengths, tuple(notes)


def select_lengths(space: TripletSpace, n: int, lengths: Counter[int], *, seed: int) -> TripletSet:
    """Sample about *n* triplets so that the lengths of their anchors, in tokens, are distributed as in *lengths*.

    A length has fewer triplets than its share if too few of the sampled anchors have this length.
    """
    triplets = space.sample(min(SURPLUS * n, space.count()), seed=seed)
    quotas = {length: ceil(n * count / lengths.total()) for length, count in lengths.items()}
    positions = []
    for start, portion in triplets.iterate_portions(BLOCK):
        for position, text in enumerate(portion.render_texts(SIDES[0]), start):
            length = len(text.split())
            if quotas.get(length, 0) > 0:
                quotas[length] -= 1
                positions.append(position)
    return triplets.select(np.array(positions, np.int64))


def _read_pairs(path: Path) -> Iterator[tuple[str, str, bool, str]]:
    """Yield the texts a and b of each pair, whether they mean the same, and the kind, which may be empty."""
    for where, row in read_named_rows(path, COLUMNS, aliases=dict.fromkeys(KIND_COLUMNS, KIND_COLUMNS[0])):
        first, second, label = (row[name] for name in COLUMNS)
        if label not in ("0", "1"):
            raise FormatError(f"{where}: same is {label!r}; 1 (the same meaning) or 0 is expected")
        yield first, second, label == "1", row.get(KIND_COLUMNS[0], "")


def find_shortest(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a list that has only the shortest pair, or an empty list if there are no pairs."""
    return sorted(pairs, key=lambda pair: sum(map(len, pair)))[:1]


PairFunction: TypeAlias = Callable[[list[tuple[str, str]]], Any]
"""A function from a list of pairs of texts to their scores."""

CROSS_ENCODER = "ce"
"""The kind of an encoder spec for a cross-encoder, ``ce:MODEL``."""


class PairModel:
    """A pair scorer that calls a function; if *symmetric*, scores are means over both orders of a pair."""

    measure = "score"

    def __init__(self, function: PairFunction, *, name: str, symmetric: bool = False) -> None:
        self.name = name
        self._function, self._symmetric = function, symmetric

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Return the scores for each of *columns*, as in :class:`PairScorer`. Raises EncoderError."""
        return [self._score([*zip(firsts, seconds, strict=True)]) for seconds in columns]

    def _score(self, pairs: list[tuple[str, str]]) -> Floats:
        orders = [pairs, [(second, first) for first, second in pairs]] if self._symmetric else [pairs]
        columns = [convert_to_scores(self._function(order)) for order in orders]
        if any(column.shape != (len(pairs),) for column in columns):
            raise EncoderError(f"{self.name} did not return one score for each of {len(pairs)} pairs")
        with np.errstate(over="ignore"):
            means: Floats = np.mean(columns, axis=0).round(DECIMALS)
        if len(invalid_rows := np.flatnonzero(~np.isfinite(means))):
            first, second = pairs[invalid_rows[0]]
            raise EncoderError(f"{self.name}: the score of the pair {first!r}, {second!r} is not a finite number")
        return means


@dataclass(frozen=True, slots=True)
class CrossEncoderOptions:
    """Options of the encoder spec ``ce:MODEL``."""

    revision: str = ""
    batch: int = 32
    device: str = ""


def load_cross_encoder(spec: Spec) -> PairModel:
    """Load the cross-encoder ``ce:MODEL?...``. With several outputs, the score is the probability of entailment.

    Raises:
        EncoderError: the model cannot be loaded.
        UsageError: the model is not a cross-encoder, or it has several outputs and none is entailment.
    """
    options = read_options(spec, CrossEncoderOptions())
    if not spec.argument:
        raise UsageError("ce: wants a model, as in ce:cross-encoder/nli-deberta-v3-base")
    check_installed([Spec("st", spec.argument)])
    files = find_model(spec.argument, revision=options.revision, owners=("cross-encoder/", ""))
    with report_loading_errors(spec.argument):
        if not any(name.endswith("ForSequenceClassification") for name in read_architectures(files.directory)):
            # The library would add a head with random weights.
            raise UsageError(f"{spec.argument} is not a cross-encoder: its files have no layer that scores pairs")
        model: Any = load_from_folder("CrossEncoder", files.directory, device=options.device or None)
    labels = [str(label).casefold() for _, label in sorted(model.config.id2label.items())]
    column = labels.index("entailment") if "entailment" in labels else 0
    if len(labels) > 1 and "entailment" not in labels:
        raise UsageError(f"{spec.argument} has {len(labels)} outputs, none of which is entailment")
    predict = partial(model.predict, batch_size=options.batch, show_progress_bar=False, apply_softmax=len(labels) > 1)

    def score(pairs: list[tuple[str, str]]) -> Any:
        with report_encoding_errors(spec.name):
            return np.asarray(predict(pairs)).reshape(len(pairs), -1)[:, column]

    return PairModel(score, name=spec.name, symmetric=True)
