"""Measure whether sentences with another meaning pass a similarity threshold."""

from collections.abc import Sequence
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.spaces.held_out_words import parse_side
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import choose_vocabulary
from sentprobe.probes.encoders import Encoder, make_encoder
from sentprobe.probes.encoders.cache.vector_cache import Cache
from sentprobe.probes.encoders.resolve import EncoderArgument, EncoderSource, resolve_encoders
from sentprobe.probes.gate.gate_rates import GateResult, check_threshold, measure_gate
from sentprobe.probes.gate.gate_tables import Gate
from sentprobe.probes.gate.own_pairs import score_own_pairs
from sentprobe.probes.gate.pair_scores import PairScorer, ScoredPairs, VectorScorer, find_nearness, score_triplets
from sentprobe.probes.geometry.triplet_sentences import TripletSampling, build_triplet_spaces
from sentprobe.processes import check_count
from sentprobe.progress import Reporter, SilentReporter, shorten
from sentprobe.specs import Spec

DRAW_STEP = 10
"""Difference between the seeds of two draws, as in a run."""


def gate(
    model: EncoderArgument | object,
    *,
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
    held_out: Sequence[str] = (),
    cache: Cache | None = None,
    reporter: Reporter | None = None,
) -> Gate:
    """Measure how many pairs with another meaning pass a similarity threshold, and how many paraphrases do not.

    >>> figures = gate("bow?dim=8", contrasts=["role"], n=40)
    >>> figures.draws[0].rates[1].auc
    0.5

    - threshold: the threshold; without it, the highest that keeps the share *keep* of paraphrases, chosen on one half
      of the units and measured on the other
    - contrasts: default: all that the templates allow
    - n: number of triplets of each contrast, as ``gen pairs`` writes them with this seed
    - measure: cosine, dot or euclid (for which the threshold is a distance)
    - pairs: a table with the columns a, b and same, to be measured instead

    Raises:
        UsageError: a value is wrong, or the model has no vectors.
    """
    nearness = find_nearness(measure)
    check_count("draws", draws)
    if not 0 < keep <= 1:
        raise UsageError(f"the share of paraphrases to keep must be above 0 and at most 1, not {keep:g}")
    if threshold is not None:
        check_threshold(threshold, nearness)
    source = _resolve_single(model)
    spaces: Sequence[TripletSpace] = ()
    left_out: Sequence[str] = ()
    if pairs is None:
        words = lexicon or english()
        sampling = TripletSampling(
            vocabulary=vocabulary or choose_vocabulary(words, "compeval"),
            templates=tuple(templates),
            n=n,
            held_out=side.values if (side := parse_side(list(held_out), held_out=True)) else (),
        )
        spaces, errors = build_triplet_spaces(words, contrasts, sampling)
        left_out = [str(error) for error in errors]
    results: list[GateResult] = []
    for draw_seed in range(seed, seed + DRAW_STEP * draws, DRAW_STEP):
        encoder = make_encoder(source, seed=draw_seed) if isinstance(source, Spec) else source
        if not isinstance(encoder, Encoder):
            raise UsageError(f"{encoder.name!r} is a baseline without vectors, so it has no similarities")
        scorer = VectorScorer(encoder, nearness, cache=cache)
        scored = (
            [score_own_pairs(scorer, Path(pairs))]
            if pairs is not None
            else _score_spaces(scorer, spaces, n, draw_seed, reporter or SilentReporter())
        )
        results.append(
            measure_gate(
                scored, scorer=scorer.name, measure=scorer.measure, seed=draw_seed, keep=keep, threshold=threshold
            )
        )
    return Gate(tuple(results), tuple(left_out))


def _resolve_single(model: object) -> EncoderSource:
    sources = resolve_encoders(model)
    if len(sources) != 1:
        raise UsageError(f"{len(sources)} models; one is wanted here")
    return sources[0]


def _score_spaces(
    scorer: PairScorer, spaces: Sequence[TripletSpace], n: int, seed: int, reporter: Reporter
) -> list[ScoredPairs]:
    reporter.begin(f"score with {shorten(scorer.name)}", n * len(spaces))
    return [pairs for space in spaces for pairs in score_triplets(scorer, space.sample(n, seed=seed), reporter)]
