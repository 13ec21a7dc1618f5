"""Measurement of false hits and misses of a similarity threshold (``probe gate``)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import check_count
from sentprobe.common.screen import Reporter, shorten, show_bars
from sentprobe.common.specs import Spec, choose_member
from sentprobe.generator.events.event import Mood
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import choose_vocabulary
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Encoder
from sentprobe.probes.encoders.kinds import (
    EncoderArgument,
    find_kind,
    list_kind_names,
    make_encoder,
    read_spec,
    resolve_encoders,
)
from sentprobe.probes.similarity import pair_scores
from sentprobe.probes.similarity.gate_rates import Cascade, GateDraw, check_threshold, measure_gate
from sentprobe.probes.similarity.gate_tables import GateResults
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.pair_scores import CROSS_ENCODER, PairFunction, PairModel, load_cross_encoder
from sentprobe.probes.similarity.triplet_sentences import TripletSampling, build_triplet_spaces

DRAW_STEP = 10
"""The difference between the seeds of consecutive draws, as in ``probe run``."""


def gate(
    model: EncoderArgument | object | None = None,
    *,
    score: PairFunction | None = None,
    then: EncoderArgument | None = None,
    threshold: float | None = None,
    keep: float = 0.95,
    contrasts: Sequence[str] = (),
    n: int = 400,
    draws: int = 1,
    seed: int = 0,
    measure: str = "cosine",
    pairs: Path | str | None = None,
    lexicon: Lexicon | None = None,
    vocabulary: str | None = None,
    templates: Sequence[str] = ("all",),
    mood: str | None = None,
    held_out: Sequence[str] = (),
    cache: Cache | None = None,
    reporter: Reporter | None = None,
) -> GateResults:
    """Measure how many pairs with different meanings pass a similarity threshold, and how many paraphrases do not.

    >>> figures = gate("bow?dim=8", contrasts=["role"], n=40)
    >>> figures.draws[0].rates[1].auc
    0.5

    - model: an encoder, or ``ce:MODEL``, a cross-encoder
    - score: instead of a model, a function from a list of pairs of texts to their scores
    - then: a second model, which scores only the pairs that pass the first one. The threshold of the
      second model is chosen so that the share *keep* of the paraphrases among these pairs passes
    - threshold: by default, the strictest value at which at least the share *keep* of the paraphrases passes. It is
      chosen on one half of the units, and the rates are measured on the other half
    - contrasts: by default, all that the templates allow
    - n: the number of triplets of each contrast. Without *pairs*, these are the triplets that ``gen pairs``
      writes with this *n* and this seed
    - measure: cosine, dot or euclid (for which the threshold is a distance)
    - mood: the mood of all sentences: statement (the default), question or order
    - pairs: a file of pairs, with the columns a, b and same. The rates of these pairs are measured. For comparison,
      generated pairs are measured, too; their anchors have about the same distribution of token counts as column a

    Raises:
        UsageError: a value is wrong, or the model has no vectors.
    """
    nearness = choose_member(Nearness, measure, what="measure", excluded=[Nearness.WHITENED])
    check_count("draws", draws)
    pair_source = prepare_pairs(
        contrasts,
        keep=keep,
        n=n,
        own_pairs=pairs,
        lexicon=lexicon,
        vocabulary=vocabulary,
        templates=templates,
        mood=mood,
        held_out=held_out,
    )
    first_model, second_model = map(_read_model, (model, then))
    results: list[GateDraw] = []
    with show_bars(show=None if reporter is None else False) as bar:
        for draw_seed in range(seed, seed + DRAW_STEP * draws, DRAW_STEP):
            scorer = _build_scorer(first_model, draw_seed, nearness, cache, score)
            if threshold is not None:
                check_threshold(threshold, scorer.measure)
            if then is not None:
                scorer = Cascade(scorer, _build_scorer(second_model, draw_seed, nearness, cache))
            measure_pairs = partial(pair_source.measure, scorer, seed=draw_seed, reporter=reporter or bar)
            result = measure_pairs(threshold)
            if isinstance(scorer, Cascade):
                scorer.ask_second(result.threshold)
                second = measure_pairs()  # of the same pairs; the second scorer sees those that pass the first
                result = replace(second, stages=scorer.build_stages(result.threshold, second.threshold))
            results.append(result)
    return GateResults(tuple(results), pair_source.left_out, pair_source.pair_notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSource:
    """Triplet spaces, from which each draw samples pairs, and optionally a file with the user's own pairs."""

    spaces: Sequence[TripletSpace]
    left_out: tuple[str, ...]
    keep: float
    n: int
    own_pairs: Path | None
    lengths: Counter[int] | None
    """For each number of tokens in the first text, the number of the user's pairs; None without a file."""
    pair_notes: tuple[str, ...]
    """Notes on doubtful labels of the user's pairs."""

    def measure(
        self, scorer: pair_scores.PairScorer, threshold: float | None = None, *, seed: int, reporter: Reporter
    ) -> GateDraw:
        """Measure the rates of a scorer in one draw; if *threshold* is None, choose one."""
        own_scores = [] if self.own_pairs is None else pair_scores.score_own_pairs(scorer, self.own_pairs)
        triplet_sets = [
            space.sample(self.n, seed=seed)
            if self.lengths is None
            else pair_scores.select_lengths(space, self.n, self.lengths, seed=seed)
            for space in self.spaces
        ]
        reporter.begin(f"score with {shorten(scorer.name)}", sum(map(len, triplet_sets)))
        generated = [
            pairs
            for triplets in triplet_sets
            if len(triplets)
            for pairs in pair_scores.score_triplets(scorer, triplets, reporter)
        ]
        return measure_gate(
            own_scores or generated,
            generated if own_scores else (),
            scorer=scorer.name,
            measure=scorer.measure,
            seed=seed,
            keep=self.keep,
            threshold=threshold,
        )


def prepare_pairs(
    contrasts: Sequence[str],
    *,
    keep: float,
    n: int,
    own_pairs: Path | str | None = None,
    lexicon: Lexicon | None = None,
    vocabulary: str | None = None,
    templates: Sequence[str] = ("all",),
    mood: str | None = None,
    held_out: Sequence[str] = (),
) -> PairSource:
    """Check the arguments of :func:`gate` that determine the pairs; return the pairs' source. Raises UsageError."""
    if not 0 < keep <= 1:
        raise UsageError(f"the share of paraphrases to keep must be above 0 and at most 1, not {keep:g}")
    words = lexicon or english()
    side = parse_side(list(held_out), held_out=True)
    sampling = TripletSampling(
        vocabulary=vocabulary or choose_vocabulary(words, "compeval"),
        templates=tuple(templates),
        n=n,
        held_out=side.values if side else (),
    )
    chosen_mood = None if mood is None else choose_member(Mood, mood, what="mood")
    spaces, errors = build_triplet_spaces(words, contrasts, sampling, chosen_mood)
    path = None if own_pairs is None else Path(own_pairs)
    lengths, pair_notes = (None, ()) if path is None else pair_scores.count_lengths(path)
    return PairSource(
        spaces=spaces,
        left_out=tuple(map(str, errors)),
        keep=keep,
        n=n,
        own_pairs=path,
        lengths=lengths,
        pair_notes=pair_notes,
    )


def _read_model(model: object) -> object:
    """Return the spec that a text states; anything else unchanged."""
    return read_spec(model, [*list_kind_names(), CROSS_ENCODER]) if isinstance(model, str) else model


def _build_scorer(
    model: object, seed: int, nearness: Nearness, cache: Cache | None, score: PairFunction | None = None
) -> pair_scores.PairScorer:
    if (model is None) is (score is None):
        raise UsageError("give either a model or a score function")
    if score is not None:
        return PairModel(score, name=getattr(score, "__name__", "score"))
    if isinstance(model, Spec):
        if model.kind == CROSS_ENCODER:
            return load_cross_encoder(model)
        find_kind(model, CROSS_ENCODER)
    source, *further_models = resolve_encoders(model)
    if further_models:
        raise UsageError(f"{1 + len(further_models)} models; one is expected here")
    encoder = make_encoder(source, seed=seed) if isinstance(source, Spec) else source
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name!r} is a baseline, which has no vectors")
    return pair_scores.VectorScorer(encoder, nearness, cache=cache)
