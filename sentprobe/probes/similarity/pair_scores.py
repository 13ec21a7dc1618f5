"""Similarity scores of pairs of texts, computed in blocks to save memory.

Cross-encoders and other functions that score a list of pairs of texts.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nlargest
from itertools import chain, compress
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError, first_line
from sentprobe.common.processes import is_stop_request
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Natural, Spec, read_options
from sentprobe.generator.pairs.triplets import SIDES, TripletSet
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
from sentprobe.probes.encoders.models.python import CallStyle, PythonOptions, convert_to_scores, find_style, load_object
from sentprobe.probes.encoders.variants import ERASE, STORAGE_OPTION_NAMES, split_options
from sentprobe.probes.similarity.measures import Nearness, NegativeKind, Sides
from sentprobe.probes.statistics import Floats

BLOCK = 2048
"""The number of triplets, or of a user's pairs, in a block."""

DECIMALS = 6
"""The number of decimals of a score, which is about the precision of float32 vectors."""


class PairScorer(Protocol):
    """An object that scores pairs of texts; a higher score means that the texts are more similar."""

    @property
    def name(self) -> str: ...

    @property
    def measure(self) -> str:
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


class TextPair(NamedTuple):
    """Two texts, and whether they mean the same. The first is the text that a cache holds, the second the new one."""

    first: str
    second: str
    same: bool
    kind: str = ""
    """The kind of the difference, such as ``negation``, by which rates are broken down; empty: none."""


OWN_PAIRS = "own pairs"
"""The name of a user's pairs, which have no contrast."""


def name_pairs(contrast: str, form: str, kind: str) -> str:
    """Return what pairs are: "role (form)" for generated pairs, "own pairs, date" for the user's."""
    if contrast:
        return f"{contrast} ({form})" if form else contrast
    return f"{OWN_PAIRS}, {kind}" if kind else OWN_PAIRS


class ScoredPair(NamedTuple):
    """Two texts and their score."""

    score: float
    first: str
    second: str


NEAREST = 20
"""Number of pairs in the list of the pairs with different meanings that have the highest scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSide:
    """Pairs with the same meaning, or pairs with different meanings: their texts, scores and units, all (n,)."""

    pairs: Sequence[TextPair]
    scores: Floats
    units: NDArray[np.int64]

    def select(self, rows: NDArray[np.bool_]) -> "ScoredSide":
        """Return the pairs of the rows that are True."""
        return ScoredSide(pairs=[*compress(self.pairs, rows)], scores=self.scores[rows], units=self.units[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPairs:
    """The scores of pairs with the same meaning, and of pairs with different meanings."""

    contrast: str = ""
    """The contrast of the negatives; empty for a user's pairs."""
    form: str = ""
    """Whether the negatives have the form of the anchor or of the positive; empty for a user's pairs."""
    kind: str = ""
    """The kind that a user's pairs have in their file; empty for pairs of all kinds and for generated pairs."""
    same: ScoredSide
    different: ScoredSide
    ties: int = 0
    """The number of negatives whose score equals that of their positive."""

    @property
    def name(self) -> str:
        """The contrast and the form of the negatives, or "own pairs" and their kind."""
        return name_pairs(self.contrast, self.form, self.kind)

    def select(self, rows: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> "ScoredPairs":
        """Return the pairs whose units *rows* accepts."""
        same, different = (side.select(rows(side.units)) for side in (self.same, self.different))
        return replace(self, same=same, different=different)

    def find_shortest(self) -> tuple[str, str]:
        """Return the texts of the shortest pair with different meanings, as an example."""
        pair = min(self.different.pairs, key=lambda pair: len(pair.first) + len(pair.second))
        return pair.first, pair.second

    def find_nearest(self) -> list[ScoredPair]:
        """Return the pairs with different meanings that have the highest scores, at most NEAREST."""
        rows = zip(self.different.scores.tolist(), self.different.pairs, strict=True)
        nearest = nlargest(NEAREST, rows, key=lambda row: row[0])
        return [ScoredPair(score, pair.first, pair.second) for score, pair in nearest]


def score_triplets(scorer: PairScorer, triplets: TripletSet, reporter: Reporter) -> list[ScoredPairs]:
    """Return two ScoredPairs. The first has the negatives in the anchor's form, the second those in the positive's."""
    scores, units = np.empty((3, len(triplets))), np.empty(len(triplets), np.int64)
    pairs: list[list[TextPair]] = [[], [], []]
    for start, portion in triplets.iterate_portions(BLOCK):
        anchors, *texts_by_side = map(portion.render_texts, SIDES)
        block = slice(start, start + len(portion))
        scores[:, block] = scorer.score_columns(anchors, *texts_by_side)
        units[block] = portion.hash_units()
        for side, texts in enumerate(texts_by_side):
            pairs[side] += [TextPair(*row, same=side == 0) for row in zip(anchors, texts, strict=True)]
        reporter.advance(len(portion))
    positive, *negatives = (
        ScoredSide(pairs=side_pairs, scores=row, units=units) for side_pairs, row in zip(pairs, scores, strict=True)
    )
    return [
        ScoredPairs(
            contrast=triplets.space.contrast.name,
            form=form.value,
            same=positive,
            different=side,
            ties=int(((side.scores == positive.scores) & np.isfinite(positive.scores)).sum()),
        )
        for form, side in zip((NegativeKind.ANCHOR, NegativeKind.FORM), reversed(negatives), strict=True)
    ]


def find_sign(measure: str) -> int:
    """Return -1 for a distance, whose score is the negative distance, else 1."""
    return -1 if measure == Nearness.EUCLID else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStage:
    """The threshold and the cost of one scorer of a cascade."""

    scorer: str
    measure: str
    threshold: float
    pairs: int
    """The number of scored pairs."""
    pairs_per_second: float = field(compare=False)


class Cascade:
    """A pair scorer that combines two pair scorers. Callers score the same pairs twice, in the same order.

    At first, the cascade returns the scores of the first scorer. After :meth:`ask_second`, it returns the second
    scorer's scores of pairs that passed the first scorer's threshold, and minus infinity for all other pairs.
    """

    def __init__(self, first: PairScorer, second: PairScorer) -> None:
        self._first, self._second = first, second
        self._first_scores: deque[Floats] = deque()
        self._limit: float | None = None
        self._pairs, self._seconds = [0, 0], [0.0, 0.0]

    @property
    def name(self) -> str:
        """The name of the first scorer; after :meth:`ask_second`, the names of both."""
        return self._first.name if self._limit is None else f"{self._first.name}, then {self._second.name}"

    @property
    def measure(self) -> str:
        """The measure of the scorer whose scores are returned."""
        return self._first.measure if self._limit is None else self._second.measure

    def ask_second(self, threshold: float) -> None:
        """Switch to the second scorer. It scores only pairs whose score by the first scorer passes *threshold*."""
        self._limit = find_sign(self._first.measure) * threshold

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Return an array of scores for each column. Score i is for ``firsts[i]`` and text i of the column."""
        if self._limit is None:
            first_scores = self._time(0, self._first, firsts, *columns)
            self._first_scores.extend(first_scores)
            return first_scores
        second_scores: list[Floats] = []
        for seconds in columns:
            scores = np.full(len(firsts), -np.inf)
            if rows := np.flatnonzero(self._first_scores.popleft() >= self._limit).tolist():
                (scores[rows],) = self._time(1, self._second, [firsts[i] for i in rows], [seconds[i] for i in rows])
            second_scores.append(scores)
        return second_scores

    def _time(self, stage: int, scorer: PairScorer, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        start = perf_counter()
        scores = scorer.score_columns(firsts, *columns)
        self._seconds[stage] += perf_counter() - start
        self._pairs[stage] += len(firsts) * len(columns)
        return scores

    def build_stages(self, *thresholds: float) -> tuple[GateStage, ...]:
        """Return the threshold, the number of scored pairs and the speed of each of the two scorers."""
        rows = zip((self._first, self._second), thresholds, self._pairs, self._seconds, strict=True)
        return tuple(
            GateStage(
                scorer=scorer.name,
                measure=scorer.measure,
                threshold=threshold,
                pairs=pairs,
                pairs_per_second=pairs / max(seconds, 1e-9),
            )
            for scorer, threshold, pairs, seconds in rows
        )


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


DecisionFunction: TypeAlias = Callable[[str, str], Any]
"""A function of a cached and a new text, which returns whether the cached answer is given, or a score."""
DECISION = "decision"
"""The measure of a decision that returns True or False; True has the score 1, which is the threshold."""


class Decision:
    """A pair scorer that calls the user's function of a cached and a new text, such as a whole semantic cache.

    The measure is DECISION if all returned values are True or False, and "score" if all are numbers.
    """

    def __init__(self, function: DecisionFunction, *, name: str) -> None:
        self.name, self.measure = name, ""
        self._function = function

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Return the decisions for each of *columns*, as in :class:`PairScorer`. Raises EncoderError."""
        return [np.array([*map(self._decide, firsts, seconds)], np.float64) for seconds in columns]

    def _decide(self, cached: str, new: str) -> float:
        try:
            value = self._function(cached, new)
        except (Exception, SystemExit) as error:
            if is_stop_request(error):
                raise
            raise EncoderError(f"{self.name} raised {type(error).__name__}: {first_line(error)}") from error
        measure = DECISION if isinstance(value, bool | np.bool_) else PairModel.measure
        if self.measure not in ("", measure):
            raise EncoderError(f"{self.name} returned True or False for one pair and a number for another")
        self.measure = measure
        scores = convert_to_scores(value)
        if scores.shape != () or not np.isfinite(scores):
            raise EncoderError(f"{self.name}({cached!r}, {new!r}) is {value!r}; True, False or a number is expected")
        return round(float(scores), DECIMALS)


def load_decision(spec: Spec) -> Decision | None:
    """Return the decision of a spec ``python:module:function``; None if the function or object is an encoder.

    Raises UsageError or EncoderError.
    """
    plain, vector_options = split_options(spec, *STORAGE_OPTION_NAMES, ERASE)
    options = read_options(plain, PythonOptions(seed=Natural(0)))
    _, function = load_object(spec)
    style = find_style(function) if options.style is CallStyle.AUTO else options.style
    if style is not CallStyle.DECISION:
        return None
    if vector_options:
        raise UsageError(f"{spec}: the option {vector_options[0][0]}= changes vectors, and a decision has none")
    if not callable(function):
        raise UsageError(f"{spec}: a decision is a function of two texts; name one, as in python:module:function")
    return Decision(function, name=spec.name)


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
    directory, _ = find_model(spec.argument, revision=options.revision, owners=("cross-encoder/", ""))
    with report_loading_errors(spec.argument):
        if not any(name.endswith("ForSequenceClassification") for name in read_architectures(directory)):
            # The library would add a head with random weights.
            raise UsageError(f"{spec.argument} is not a cross-encoder: its files have no layer that scores pairs")
        model: Any = load_from_folder("CrossEncoder", directory, device=options.device or None)
    labels = [str(label).casefold() for _, label in sorted(model.config.id2label.items())]
    column = labels.index("entailment") if "entailment" in labels else 0
    if len(labels) > 1 and "entailment" not in labels:
        raise UsageError(f"{spec.argument} has {len(labels)} outputs, none of which is entailment")
    predict = partial(model.predict, batch_size=options.batch, show_progress_bar=False, apply_softmax=len(labels) > 1)

    def score(pairs: list[tuple[str, str]]) -> Any:
        with report_encoding_errors(spec.name):
            return np.asarray(predict(pairs)).reshape(len(pairs), -1)[:, column]

    return PairModel(score, name=spec.name, symmetric=True)
